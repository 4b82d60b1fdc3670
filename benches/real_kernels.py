"""How many kernels of real programs inkle accepts, why others are refused, and how long the accepted ones take to compile.

Both contestants compile the same kernels, from empty caches, grouped into modules as the program groups them. Needs
a Python with inkle and one with Warp, both with the programs installed: `pip install mujoco-warp` (in another
environment `pip install newton`, which wants its own version of mujoco-warp).
"""

import argparse
import collections
import json
import os
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
    write_results,
)

PROGRAMS = ("mujoco_warp", "newton")


def measure(contestants, program, repeats, scratch):
    """What inkle makes of the program's kernels, and samples `{measurement: {contestant: [seconds]}}`."""
    os.environ["BENCH_PROGRAM"] = program
    os.environ["BENCH_STAGE"] = "check"
    inkle = next(c for c in contestants if c.name == "inkle")
    checked = inkle.run("real_kernels.py").printed
    only = Path(scratch, f"{program}.json")
    only.write_text(json.dumps(checked["accepted"]))
    os.environ["BENCH_STAGE"] = "compile"
    os.environ["BENCH_ONLY"] = str(only)
    samples = collections.defaultdict(lambda: collections.defaultdict(list))
    samples["check all kernels"]["inkle"].append(checked["check_s"])
    for repeat in range(repeats):
        for contestant in contestants:
            print(f"{program}: {contestant.name}, round {repeat + 1} of {repeats}", file=sys.stderr)
            cache = Path(scratch, f"{program}.{contestant.name}")
            for state in ("cold", "warm"):
                if state == "cold":
                    shutil.rmtree(cache, ignore_errors=True)
                run = contestant.run("real_kernels.py", cache=cache)
                samples[f"load the accepted kernels, {state}"][contestant.name].append(run.printed["compile_s"])
                samples[f"whole process, {state}, cpu time"][contestant.name].append(run.cpu_s)
            samples["register the kernels"][contestant.name].append(run.printed["register_s"])
    return checked, {name: dict(by) for name, by in samples.items()}


def report(program, checked, medians):
    """Print what was found."""
    causes = collections.Counter(checked["refused"].values())
    print(f"\n{program}: {len(checked['accepted'])} of {checked['registered']} kernels are accepted")
    for cause, count in causes.most_common():
        print(f"{count:6d}  {cause}")
    rows = []
    for measurement, by_name in medians.items():
        ratio = f"{by_name['warp'] / by_name['inkle']:.1f}" if {"warp", "inkle"} <= by_name.keys() else ""
        shown = {name: human(value) for name, value in by_name.items()}
        rows.append((measurement, shown.get("inkle", ""), shown.get("warp", ""), ratio))
    print_table(("measurement (median)", "inkle", "Warp", "Warp / inkle"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".bench-venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--warp-python", default=str(ROOT / ".bench-venv/bin/python"), help="a Python that has Warp")
    parser.add_argument(
        "--program", action="append", choices=PROGRAMS, help="a program to take; mujoco_warp by default"
    )
    parser.add_argument("--repeats", type=int, default=1, help="cold compilations of each contestant")
    parser.add_argument("--check-only", action="store_true", help="count the accepted kernels and compile nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/real_kernels.json")
    args = parser.parse_args()

    packages = ["inkle", "warp-lang", "mujoco-warp", "mujoco", "newton", "numpy"]
    pythons = (
        {"inkle": args.inkle_python} if args.check_only else {"inkle": args.inkle_python, "warp": args.warp_python}
    )
    contestants = [Contestant(n, python, n, package_versions(python, packages)) for n, python in pythons.items()]
    facts = machine_facts()
    work, samples = {}, {}
    try:
        with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
            for program in args.program or PROGRAMS[:1]:
                repeats = 0 if args.check_only else args.repeats
                checked, found = measure(contestants, program, repeats, scratch)
                report(program, checked, medians_of(found))
                causes = collections.Counter(checked["refused"].values())
                work[program] = {
                    "registered": checked["registered"],
                    "accepted": len(checked["accepted"]),
                    "refused": dict(causes.most_common()),
                }
                samples.update({f"{program}: {name}": by for name, by in found.items()})
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    if not args.check_only:
        write_results(args.out, facts, contestants, samples, work, [], False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
