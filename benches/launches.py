"""Where the nanoseconds of a launch on the CPU go, for inkle and for Warp: launches with more and more to convert."""

import argparse
import sys
import tempfile
from pathlib import Path

from harness import (
    ROOT,
    BenchError,
    Contestant,
    human,
    machine_facts,
    medians_of,
    package_versions,
    print_table,
    print_targets,
    write_results,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--warp-python", default=str(ROOT / ".bench-venv/bin/python"), help="a Python that has Warp")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each contestant")
    parser.add_argument("--quick", action="store_true", help="few launches: a check of the benchmark")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/launches.json")
    args = parser.parse_args()

    names = ("inkle", "warp-lang", "numpy")
    contestants = [
        Contestant("inkle", args.inkle_python, "inkle", package_versions(args.inkle_python, names)),
        Contestant("warp", args.warp_python, "warp", package_versions(args.warp_python, names)),
    ]
    facts = machine_facts()
    samples = {}
    try:
        with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
            for _ in range(1 if args.quick else args.repeats):
                for contestant in contestants:
                    cache = Path(scratch, contestant.name)
                    printed = contestant.run("launch_parts.py", cache=cache, quick=args.quick).printed
                    for way, values in printed["seconds"].items():
                        samples.setdefault(way, {}).setdefault(contestant.name, []).extend(values)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]

    print(f"{facts['cpu']}, load {facts['load_average'][0]}, revision {facts['revision']}")
    medians = medians_of(samples)
    rows = [
        (way, human(by["inkle"]), human(by["warp"]), f"{by['warp'] / by['inkle']:.1f}") for way, by in medians.items()
    ]
    print_table(("a launch of one thread (median)", "inkle", "Warp", "Warp / inkle"), rows)
    plain = medians["no arguments"]["inkle"]
    verdicts = [("launch without arguments", human(plain), "under 500 ns", plain < 500e-9)]
    print_targets(verdicts)
    write_results(args.out, facts, contestants, samples, {}, verdicts, args.quick)


if __name__ == "__main__":
    main()
