"""inkle and Warp side by side: large modules cold and warm, one kernel added, declarations, closures made at every step.

Runs of the contestants alternate, each in a process of its own; cold runs get an empty kernel cache. Targets are those
the project set itself; they are printed, and never decide the exit code.
"""

import argparse
import shutil
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
    summary,
    write_results,
)

WITHOUT = {"BENCH_BACKWARD": "0"}


def measure(contestants, rounds, kernels, many):
    """Samples by measurement and contestant, in seconds."""
    samples = {}
    ours = [contestant for contestant in contestants if contestant.name == "inkle"]

    def note(measurement, contestant, value):
        samples.setdefault(measurement, {}).setdefault(contestant.name, []).append(value)

    def load(contestant, cache, settings):
        printed = contestant.run("many_kernels.py", cache=cache, settings=settings).printed
        return printed["declare_s"] + printed["load_s"] + printed["first_launches_s"], printed["one_more_s"]

    with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
        for turn in range(rounds):
            print(f"round {turn + 1} of {rounds}", file=sys.stderr)
            for contestant in contestants:
                cache = Path(scratch, contestant.name)
                for what, settings in ((f"{kernels} kernels", {}), (f"{kernels} kernels, no backward", WITHOUT)):
                    shutil.rmtree(cache, ignore_errors=True)
                    settings = {"BENCH_KERNELS": str(kernels), **settings}
                    seconds, added = load(contestant, cache, settings)
                    note(f"{what}, cold", contestant, seconds)
                    note(f"{what}, one more", contestant, added)
                    note(f"{what}, warm", contestant, load(contestant, cache, settings)[0])
                for level in ("0", "1", "2", "3"):
                    shutil.rmtree(cache, ignore_errors=True)
                    settings = {"BENCH_KERNELS": "10", "BENCH_LEVEL": level, **WITHOUT}
                    note(f"10 kernels at level {level}, cold", contestant, load(contestant, cache, settings)[0])
                printed = contestant.run("declarations.py", cache=cache).printed
                note("declare 274 kernels and 495 functions", contestant, printed["declare_s"])
                note("of that the decorators", contestant, printed["decorators_s"])
                note("closure made again", contestant, printed["closure_s"])
                note("closure made again and launched", contestant, printed["launched_closure_s"])
            for contestant in ours:
                # Warp would take minutes to make its cache.
                cache, settings = Path(scratch, "many"), {"BENCH_KERNELS": str(many)}
                load(contestant, cache, settings)
                note(f"{many} kernels, warm", contestant, load(contestant, cache, settings)[0])
    return samples


def targets(medians, kernels, many):
    """`(what, reached, limit, holds)` for each number the project set itself, reached and limit as text."""
    whole, bare = medians[f"{kernels} kernels, cold"], medians[f"{kernels} kernels, no backward, cold"]
    rows = []
    for what, ratio, limit in (
        ("module cold, times sooner than Warp", whole["warp"] / whole["inkle"], 40),
        ("module cold, times sooner than Warp without backward", bare["warp"] / bare["inkle"], 12),
    ):
        rows.append((what, f"{ratio:.1f}", f"at least {limit}", ratio >= limit))
    for what, value, limit in (
        ("one kernel more", medians[f"{kernels} kernels, one more"]["inkle"], 40e-3),
        (f"{many} kernels, warm", medians[f"{many} kernels, warm"]["inkle"], 0.5),
        ("decorators of a large package", medians["of that the decorators"]["inkle"], 50e-3),
        ("closure made again", medians["closure made again"]["inkle"], 10e-6),
    ):
        rows.append((what, human(value), f"under {human(limit)}", value <= limit))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--warp-python", default=str(ROOT / ".bench-venv/bin/python"), help="a Python that has Warp")
    parser.add_argument("--repeats", type=int, default=3, help="rounds")
    parser.add_argument("--quick", action="store_true", help="small modules and one round: a check of the benchmark")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/modules.json")
    args = parser.parse_args()

    names = ("inkle", "warp-lang", "numpy")
    contestants = [
        Contestant("inkle", args.inkle_python, "inkle", package_versions(args.inkle_python, names)),
        Contestant("warp", args.warp_python, "warp", package_versions(args.warp_python, names)),
    ]
    kernels, many = (10, 50) if args.quick else (200, 1000)
    facts = machine_facts()
    try:
        samples = measure(contestants, 1 if args.quick else args.repeats, kernels, many)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]

    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_average'][0]}, revision {facts['revision']}")
    medians = medians_of(samples)
    rows = []
    for measurement, by_name in medians.items():
        shown = {name: human(value) for name, value in by_name.items()}
        ratio = f"{by_name['warp'] / by_name['inkle']:.2f}" if {"warp", "inkle"} <= by_name.keys() else ""
        quartiles = summary(samples[measurement]["inkle"])
        span = 100 * (quartiles["q3"] - quartiles["q1"]) / quartiles["median"] if quartiles["median"] else 0.0
        rows.append((measurement, shown.get("inkle", ""), shown.get("warp", ""), ratio, f"{span:.0f} %"))
    print_table(("measurement (median)", "inkle", "Warp", "Warp / inkle", "quartile span"), rows)
    verdicts = targets(medians, kernels, many)
    print_targets(verdicts)
    write_results(args.out, facts, contestants, samples, {}, verdicts, args.quick)


if __name__ == "__main__":
    main()
