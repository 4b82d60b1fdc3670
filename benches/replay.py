"""Graph files in a program without Python, on the CPU: loading, the first launch, replay per operation, and sizes.

Each sample is a process of its own that opens a file and launches its graph. The files are the one of
`examples/replay/export.py`, and a chain of 1000 launches.
"""

import argparse
import json
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
    medians_of,
    package_versions,
    print_table,
    print_targets,
    write_results,
)

LAUNCHES_OF_CHAIN = 1000
LIMIT_BYTES = 4 << 20


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise BenchError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def measure(python, repeats):
    """Samples by measurement and contestant, seconds, and the sizes of library and files, bytes."""
    samples = {}
    with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
        kit, program = Path(scratch, "kit"), Path(scratch, "replay")
        run([ROOT / "scripts/replay_kit.sh", kit])
        source = [ROOT / "benches/programs/replay.c", "-I", kit / "include", kit / "lib/libinkle_replay.a"]
        run(["cc", "-O2", *source, "-static-libgcc", "-o", program])
        files = {"swarm": ROOT / "examples/replay/export.py", "chain": ROOT / "benches/programs/chain.py"}
        sizes = {"library": (kit / "lib/libinkle_replay.so").stat().st_size}
        for name, exporter in files.items():
            run([python, exporter, Path(scratch, f"{name}.inkle")])
            sizes[name] = Path(scratch, f"{name}.inkle").stat().st_size
        for _ in range(repeats):
            for name in files:
                printed = json.loads(run([program, Path(scratch, f"{name}.inkle"), 1000]))
                per_operation = printed["launch_s"] / LAUNCHES_OF_CHAIN
                for measurement, seconds in (
                    (f"load, {name}", printed["load_s"]),
                    (f"first launch, {name}", printed["first_launch_s"]),
                    (f"load and first launch, {name}", printed["load_s"] + printed["first_launch_s"]),
                    (f"launch, {name}", printed["launch_s"]),
                    *([("replay per operation, chain", per_operation)] if name == "chain" else []),
                ):
                    samples.setdefault(measurement, {}).setdefault("inkle", []).append(seconds)
    return samples, sizes


def targets(medians, sizes):
    """`(what, reached, limit, holds)` for each number the project set itself, reached and limit as text."""
    rows = [
        ("shared library", f"{sizes['library'] / 1e6:.2f} MB", "at most 4 MiB", sizes["library"] <= LIMIT_BYTES),
    ]
    for measurement, limit in (
        ("load and first launch, swarm", 5e-3),
        ("load and first launch, chain", 5e-3),
        ("replay per operation, chain", 100e-9),
    ):
        value = medians[measurement]["inkle"]
        rows.append((measurement, human(value), f"under {human(limit)}", value <= limit))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--repeats", type=int, default=21, help="processes a file")
    parser.add_argument("--quick", action="store_true", help="two processes a file: a check of the benchmark")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/replay.json")
    args = parser.parse_args()

    contestant = Contestant(
        "inkle", args.inkle_python, "inkle", package_versions(args.inkle_python, ("inkle", "numpy"))
    )
    facts = machine_facts()
    try:
        samples, sizes = measure(args.inkle_python, 2 if args.quick else args.repeats)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]
    medians = medians_of(samples)
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_average'][0]}, revision {facts['revision']}")
    print_table(("measurement (median)", "inkle"), [(name, human(by["inkle"])) for name, by in medians.items()])
    verdicts = targets(medians, sizes)
    print_targets(verdicts)
    work = {name: {"bytes": size} for name, size in sizes.items()}
    write_results(args.out, facts, [contestant], samples, work, verdicts, args.quick)


if __name__ == "__main__":
    main()
