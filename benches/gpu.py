"""inkle, Warp and plain CUDA C++ side by side on an NVIDIA GPU.

Cold runs have an empty kernel cache and the driver's own cache switched off. Whatever is not there (Warp, or nvcc
for the CUDA C++) is left out and said so. The JSON keeps every sample with the machine's facts.
"""

import argparse
import os
import shutil
import subprocess
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
    metered,
    package_versions,
    print_table,
    print_targets,
    write_results,
)

REFERENCE = "cuda c++"


def build_reference(folder):
    """Compile the CUDA C++ program for the GPU at hand; its path, or `None` when there is no nvcc."""
    compiler = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if compiler is None:
        print("no nvcc: the CUDA C++ reference is left out", file=sys.stderr)
        return None
    program = Path(folder, "reference")
    source = ROOT / "benches/cuda/reference.cu"
    done = subprocess.run([compiler, "-O3", "-arch=native", source, "-o", program], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"nvcc refused {source}\n{done.stdout}{done.stderr}")
    return program


def measure(contestants, device, repeats, quick):
    """Samples by measurement and contestant, and the work each measurement does."""
    samples, work = {}, {}

    def note(measurement, name, values):
        samples.setdefault(measurement, {}).setdefault(name, []).extend(values)

    with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
        reference = build_reference(scratch)
        caches = {contestant.name: Path(scratch, contestant.name) for contestant in contestants}
        for repeat in range(repeats):
            print(f"start-up, round {repeat + 1} of {repeats}", file=sys.stderr)
            for contestant in contestants:
                for state in ("cold", "warm"):
                    if state == "cold":
                        shutil.rmtree(caches[contestant.name], ignore_errors=True)
                    run = contestant.run("first_result.py", cache=caches[contestant.name], device=device)
                    note(
                        f"compile, load, launch 3 kernels, {state}", contestant.name, [run.printed["first_launches_s"]]
                    )
                    note(f"start to first result, {state}", contestant.name, [run.seconds_to_result()])
                    many = contestant.run("many_kernels.py", cache=caches[contestant.name], device=device).printed
                    seconds = many["declare_s"] + many["load_s"] + many["first_launches_s"]
                    note(f"module of {many['kernels']} kernels, {state}", contestant.name, [seconds])
        for repeat in range(1 if quick else 3):
            print(f"throughput, round {repeat + 1}", file=sys.stderr)
            for contestant in contestants:
                printed = contestant.run("graphs.py", cache=caches[contestant.name], device=device, quick=quick).printed
                for measurement, values in printed["seconds"].items():
                    note(measurement, contestant.name, values)
            runs = {
                contestant.name: contestant.run(
                    "gpu_throughput.py", cache=caches[contestant.name], device=device, quick=quick
                )
                for contestant in contestants
            }
            if reference is not None:
                runs[REFERENCE] = metered([str(reference), *(["quick"] if quick else [])], dict(os.environ))
            for name, run in runs.items():
                work = work or run.printed["work"]
                for measurement, values in run.printed["seconds"].items():
                    note(measurement, name, values)
    return samples, work


def targets(medians, work):
    """`(what, reached, limit, holds)` for each number the project set itself, stated for one H200."""
    reached = medians.get
    rows = []
    for measurement, limit in (
        ("compile, load, launch 3 kernels, cold", 0.1),
        ("launch", 5e-6),
        ("graph, save", 1.8e-3),
        ("graph, load", 1e-3),
        ("graph, first launch", 7.6e-3),
        ("graph, replay per operation", 1.2e-6),
    ):
        value = reached(measurement, {}).get("inkle")
        if value is not None:
            rows.append((measurement, human(value), f"under {human(limit)}", value <= limit))
    for measurement, unit, limit in (("saxpy", "bytes", 3470e9), ("nbody", "flop", 8.2e12)):
        value = reached(measurement, {}).get("inkle")
        if value is not None:
            rate = work[measurement][unit] / value
            shown = "GB/s" if unit == "bytes" else "GFLOP/s"
            rows.append((measurement, f"{rate / 1e9:.0f} {shown}", f"at least {limit / 1e9:.0f}", rate >= limit))
    return rows


def report(samples, work, names):
    """Print the table and return the medians."""
    medians = medians_of(samples)
    rows = []
    for measurement, by_name in medians.items():
        cells = []
        for name in names:
            value = by_name.get(name)
            cell = "" if value is None else human(value)
            amount = work.get(measurement, {})
            if value is not None and "bytes" in amount:
                cell += f" ({amount['bytes'] / value / 1e9:.0f} GB/s)"
            elif value is not None and "flop" in amount:
                cell += f" ({amount['flop'] / value / 1e12:.2f} TFLOP/s)"
            cells.append(cell)
        ours = by_name.get("inkle")
        ratios = [
            f"{by_name[name] / ours:.2f}" if ours and name in by_name else "" for name in names if name != "inkle"
        ]
        rows.append((measurement, *cells, *ratios))
    header = ("measurement (median)", *names, *[f"{name} / inkle" for name in names if name != "inkle"])
    print_table(header, rows)
    return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the Python of every contestant")
    parser.add_argument("--warp-python", help="another Python for Warp")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--repeats", type=int, default=5, help="rounds of the start-up measurements")
    parser.add_argument("--quick", action="store_true", help="small sizes and two rounds: a check of the benchmark")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/gpu.json")
    args = parser.parse_args()

    contestants = []
    for name, module, python in (("inkle", "inkle", args.python), ("warp", "warp", args.warp_python or args.python)):
        if has_module(python, module):
            versions = package_versions(python, ("inkle", "warp-lang", "numpy"))
            contestants.append(Contestant(name, python, module, versions))
        else:
            print(f"{python} has no {module}: left out", file=sys.stderr)
    facts = machine_facts()
    try:
        samples, work = measure(contestants, args.device, 2 if args.quick else args.repeats, args.quick)
    except BenchError as error:
        sys.exit(f"bench: {error}")

    names = [contestant.name for contestant in contestants]
    names += [REFERENCE] if any(REFERENCE in by_name for by_name in samples.values()) else []
    print(f"{facts['gpu']}; {facts['cpu']}, revision {facts['revision']}")
    medians = report(samples, work, names)
    verdicts = targets(medians, work)
    print_targets(verdicts)
    write_results(args.out, facts, contestants, samples, work, verdicts, args.quick)


if __name__ == "__main__":
    main()
