"""CPU kernels beside Warp's and beside what an expert wrote by hand in AVX-512 (`benches/expert`).

inkle's process, in which the expert's code takes turns with the kernels on the same memory, alternates with Warp's. A
round's samples are neighbours in time, so ratios are those of the same moment of the machine: the median over all
rounds of the ratio of each. Targets are those the project set itself; they are printed, and never decide the exit code.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import (
    ROOT,
    BenchError,
    Contestant,
    human,
    machine_facts,
    package_versions,
    print_table,
    print_targets,
    write_results,
)

# How many times faster than Warp: the kernel, and whose time of Warp's is meant.
TIMES_WARP = {
    "saxpy": (1.7, "saxpy"),
    "map": (15.0, "map"),
    "nbody": (12.0, "nbody"),
    "nbody, fast_math": (25.0, "nbody"),
}
AS_EXPERT = ("saxpy", "map", "nbody", "nbody, fast_math", "mandelbrot", "stencil", "search", "histogram")


def build_expert():
    """Build the expert's library; its path."""
    command = ["cargo", "build", "--quiet", "--locked", "--release", "-p", "inkle-bench-expert"]
    done = subprocess.run([*command, "--message-format", "json"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"the expert's code cannot be built\n{done.stderr[-4000:]}")
    made = [json.loads(line) for line in done.stdout.splitlines()]
    made = [message for message in made if message.get("target", {}).get("name") == "inkle_bench_expert"]
    if not made or not made[-1].get("filenames"):
        raise BenchError("cargo does not say where the expert's library is")
    return made[-1]["filenames"][0]


def measure(contestants, library, rounds, quick, cores):
    """Samples `{measurement: {form: [seconds]}}` of each way to run a kernel, and the work of one sample."""
    samples, work = {}, {}
    with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
        for number in range(rounds):
            for contestant in contestants:
                print(f"{cores}, round {number + 1} of {rounds}: {contestant.name}", file=sys.stderr)
                printed = contestant.run(
                    "cpu_kernels.py",
                    cache=Path(scratch, contestant.name),
                    one_core=cores == "one core",
                    quick=quick,
                    settings=[("BENCH_EXPERT", library)] + [("BENCH_COMPARE_ONLY", "1")] * (contestant.name != "inkle"),
                ).printed
                work |= printed["work"]
                for name, forms in printed["seconds"].items():
                    for form, values in forms.items():
                        known = contestant.name if form == "kernel" else form
                        samples.setdefault(f"{name}, {cores}", {}).setdefault(known, []).extend(values)
    return samples, work


def best_by_hand(forms):
    """The samples of the expert's form with the best median; `None` where there is no AVX-512."""
    by_hand = [values for form, values in forms.items() if form.startswith("expert")]
    return min(by_hand, key=statistics.median, default=None)


def times(slow, fast):
    """How many times `fast` goes into `slow`, sample by sample, in the median."""
    return statistics.median(s / f for s, f in zip(slow, fast, strict=True))


def targets(samples):
    """`(what, reached, limit, holds)` of two cores and more, reached and limit as text."""
    rows = []

    def row(what, value, limit):
        rows.append((what, f"{value:.2f}", f"at least {limit:.3g}", value >= limit))

    def of(name):
        return samples[f"{name}, all cores"]

    for name, (limit, beside) in TIMES_WARP.items():
        row(f"{name}, times Warp", times(of(beside)["warp"], of(name)["inkle"]), limit)
    if triad := best_by_hand(of("triad")):
        # Both move twelve bytes for each element.
        row("saxpy, share of the triad's bandwidth", times(triad, of("saxpy")["inkle"]), 0.95)
    for name in AS_EXPERT:
        if by_hand := best_by_hand(of(name)):
            # A tenth more time than the expert's code takes is the most.
            row(f"{name}, share of the expert's speed", times(by_hand, of(name)["inkle"]), 1 / 1.1)
    return rows


def rate(name, seconds, work):
    """What `seconds` mean for the work of a measurement, as text; empty when it has none."""
    amount = work.get(name.rsplit(", ", 1)[0], {})
    for what, unit in (("bytes", "GB/s"), ("flop", "GFLOP/s"), ("items", "G/s")):
        if what in amount:
            return f"{amount[what] / seconds / 1e9:.3g} {unit}"
    return ""


def report(samples, work):
    rows = []
    for name, forms in samples.items():
        cells = [name]
        for values in (forms.get("inkle"), forms.get("warp"), best_by_hand(forms)):
            median = statistics.median(values) if values else 0.0
            cells.append(f"{human(median)} ({rate(name, median, work)})".removesuffix(" ()") if values else "")
        by_hand = best_by_hand(forms)
        cells.append(f"{times(forms['warp'], forms['inkle']):.1f}" if "warp" in forms else "")
        cells.append(f"{times(by_hand, forms['inkle']):.2f}" if by_hand and "inkle" in forms else "")
        rows.append(tuple(cells))
    print_table(("kernel (median)", "inkle", "Warp", "expert", "Warp / inkle", "expert / inkle"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--warp-python", default=str(ROOT / ".bench-venv/bin/python"), help="a Python that has Warp")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each contestant")
    parser.add_argument("--quick", action="store_true", help="small sizes and one round: a check of the benchmark")
    parser.add_argument("--expert", help="the expert's library, where it is built already")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/kernels-cpu.json")
    args = parser.parse_args()

    names = ("inkle", "warp-lang", "numpy")
    contestants = [
        Contestant("inkle", args.inkle_python, "inkle", package_versions(args.inkle_python, names)),
        Contestant("warp", args.warp_python, "warp", package_versions(args.warp_python, names)),
    ]
    facts = machine_facts()
    rounds = 1 if args.quick else args.repeats
    samples, work = {}, {}
    try:
        library = args.expert or build_expert()
        for cores in ("all cores", "one core"):
            found, work = measure(contestants, library, rounds, args.quick, cores)
            samples |= found
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]

    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_average'][0]}, revision {facts['revision']}")
    report(samples, work)
    verdicts = targets(samples)
    print_targets(verdicts)
    write_results(args.out, facts, contestants, samples, work, verdicts, args.quick)


if __name__ == "__main__":
    main()
