"""What the operators for PyTorch and ONNX Runtime cost over a launch of the live graph, on the CPU, seen from Python.

Each sample is a process of its own; its number is the best of many batches of calls. `scripts/setup.sh test` installs the
two frameworks.
"""

import argparse
import json
import subprocess
import sys
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

KINDS = ("live", "torch", "onnxruntime")
LAUNCHES = (1, 100)
LIMIT_S = 20e-6


def measure(python, repeats):
    """Samples by measurement and contestant, seconds."""
    samples = {}
    for _ in range(repeats):
        for launches in LAUNCHES:
            for kind in KINDS:
                command = [python, str(ROOT / "benches/programs/operators.py"), kind, str(launches)]
                done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
                if done.returncode != 0:
                    raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip()}")
                name = f"{kind}, {launches} launches"
                seconds = json.loads(done.stdout.splitlines()[-1])["call_s"]
                samples.setdefault(name, {}).setdefault("inkle", []).append(seconds)
    return samples


def targets(medians):
    """`(what, reached, limit, holds)` for each number the project set itself, reached and limit as text."""
    for launches in LAUNCHES:
        live = medians[f"live, {launches} launches"]["inkle"]
        for kind in KINDS[1:]:
            over = medians[f"{kind}, {launches} launches"]["inkle"] - live
            yield f"{kind} over live, {launches} launches", human(over), f"under {human(LIMIT_S)}", over <= LIMIT_S


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--repeats", type=int, default=11, help="processes a measurement")
    parser.add_argument("--quick", action="store_true", help="one process a measurement: a check of the benchmark")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/operators.json")
    args = parser.parse_args()

    versions = package_versions(args.inkle_python, ("inkle", "numpy", "onnxruntime", "torch"))
    contestant = Contestant("inkle", args.inkle_python, "inkle", versions)
    facts = machine_facts()
    try:
        samples = measure(args.inkle_python, 1 if args.quick else args.repeats)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]
    medians = medians_of(samples)
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_average'][0]}, revision {facts['revision']}")
    print_table(("call (median)", "inkle"), [(name, human(by["inkle"])) for name, by in medians.items()])
    verdicts = list(targets(medians))
    print_targets(verdicts)
    write_results(args.out, facts, [contestant], samples, {}, verdicts, args.quick)


if __name__ == "__main__":
    main()
