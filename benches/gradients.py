"""inkle and Warp side by side: forward and backward passes, and compiling what runs them.

Runs of the contestants alternate, each in a process of its own with an empty kernel cache. What the backward passes take to
compile is what a program with them takes more than the same program without. Both must find the same gradients. On a GPU
(`--device cuda:0`) sizes are larger. Targets are those the project set itself; they never decide the exit code.
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
    has_module,
    human,
    machine_facts,
    medians_of,
    package_versions,
    print_table,
    print_targets,
    write_results,
)

WITHOUT, WITH = "compiling without backward passes", "compiling with backward passes"


def measure(contestants, device, rounds, quick):
    """Samples by measurement and contestant, `{measurement: {contestant: [seconds]}}`, and the work done."""
    samples, found, work = {}, {}, {}

    def note(measurement, name, values):
        samples.setdefault(measurement, {}).setdefault(name, []).extend(values)

    with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
        for repeat in range(rounds):
            for contestant in contestants:
                print(f"round {repeat + 1} of {rounds}: {contestant.name}", file=sys.stderr)
                for compiling, backward in ((WITHOUT, "0"), (WITH, "1")):
                    cache = Path(scratch, contestant.name)
                    shutil.rmtree(cache, ignore_errors=True)
                    run = contestant.run(
                        "gradients.py", cache=cache, device=device, quick=quick, settings=[("BENCH_BACKWARD", backward)]
                    )
                    note(compiling, contestant.name, [run.printed["compile_s"]])
                work = run.printed["work"]
                found[contestant.name] = run.printed["gradients"]
                for measurement, values in run.printed["seconds"].items():
                    note(measurement, contestant.name, values)
    check(found)
    return samples, work


def check(found):
    """Fails unless all found the same gradients."""
    expected = next(iter(found.values()))
    for name, gradients in found.items():
        for problem, sums in gradients.items():
            for one, other in zip(sums, expected[problem]):
                if abs(one - other) > 1e-3 * abs(other):
                    raise BenchError(f"{problem}: {name} finds gradients of sum {one}, not {other}")


def targets(medians, on_gpu):
    """`(what, reached, limit, holds)` for each number the project set itself, as text."""
    rows = []
    compared = {measurement: by for measurement, by in medians.items() if {"warp", "inkle"} <= by.keys()}
    if {WITHOUT, WITH} <= compared.keys():
        # What the backward passes add; where the machine is busy the difference may be anything.
        more = {name: max(compared[WITH][name] - compared[WITHOUT][name], 1e-9) for name in compared[WITH]}
        compared["compiling the backward passes"] = more
    for measurement, by_name in compared.items():
        if measurement == WITHOUT:
            continue
        times = by_name["warp"] / by_name["inkle"]
        limit = 20.0 if measurement.startswith("compiling") else 1.2 if on_gpu else 10.0
        rows.append((f"{measurement}, times as fast as Warp", f"{times:.2f}", f"at least {limit:g}", times >= limit))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", help="a Python that has inkle; by default this one")
    parser.add_argument("--inkle-module", default="inkle", help="the module measured as inkle")
    parser.add_argument("--warp-python", help="a Python that has Warp; by default that of inkle")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes and one round: a check of the benchmark")
    parser.add_argument("--out", type=Path, help="by default benches/results/gradients-cpu.json or -gpu.json")
    args = parser.parse_args()

    args.inkle_python = args.inkle_python or sys.executable
    args.warp_python = args.warp_python or args.inkle_python
    names = ("inkle", "warp-lang", "numpy")
    contestants = []
    for name, module, python in (
        ("inkle", args.inkle_module, args.inkle_python),
        ("warp", "warp", args.warp_python),
    ):
        if has_module(python, module):
            contestants.append(Contestant(name, python, module, package_versions(python, names)))
        else:
            print(f"{python} has no {module}: left out", file=sys.stderr)
    on_gpu = args.device != "cpu"
    facts = machine_facts()
    try:
        samples, work = measure(contestants, args.device, 1 if args.quick else args.rounds, args.quick)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]

    print(f"{facts['gpu'] if on_gpu else facts['cpu']}, load {facts['load_average'][0]}, revision {facts['revision']}")
    medians = medians_of(samples)
    rows = []
    for measurement, by_name in medians.items():
        shown = [human(by_name[name]) if name in by_name else "" for name in ("inkle", "warp")]
        has_both = {"inkle", "warp"} <= by_name.keys()
        rows.append((measurement, *shown, f"{by_name['warp'] / by_name['inkle']:.2f}" if has_both else ""))
    print_table(("measurement (median)", "inkle", "Warp", "Warp / inkle"), rows)
    verdicts = targets(medians, on_gpu)
    print_targets(verdicts)
    out = args.out or ROOT / f"benches/results/gradients-{'gpu' if on_gpu else 'cpu'}.json"
    write_results(out, facts, contestants, samples, work, verdicts, args.quick)


if __name__ == "__main__":
    main()
