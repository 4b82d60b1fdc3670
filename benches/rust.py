"""Kernels written in Rust: what a launch costs, and the same kernels in plain Rust, CubeCL and Python, side by side.

Contestants take turns, each sample in a process of its own. A first result counts from the start of the process, with no
kernel in any cache. On the CPU the reference is plain Rust over slices, on all cores by rayon, which rustc compiled before.
CubeCL's CPU runtime is built with LLVM from its makers' site; here it gets the LLVM that inkle is built with, one major version
older, by the C interface that both have. Its CUDA runtime compiles with LLVM as well, and needs CUDA's libdevice (`CUDA_PATH`) when it
runs. Where CubeCL cannot be had it is left out, and the results say why.
"""

import argparse
import json
import os
import re
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
    medians_of,
    metered,
    package_versions,
    print_table,
    print_targets,
    write_results,
)

FOLDER = ROOT / "benches/rust"
KERNELS = ("saxpy", "map", "nbody")
PREPARED_LIMIT = 60e-9
LLVM = Path("/usr/lib/llvm-22")
# What CubeCL's build asks for the libraries to link: the shared one, in place of the parts of a static one.
CONFIG = """#!/bin/sh
for word; do
  case $word in
    --libs) exit 0 ;;
    --system-libs) echo -l{library}; exit 0 ;;
  esac
done
exec {config} "$@"
"""
# Results of two compilers differ in their last bits; sums of thousands of terms in a few more.
TOLERANCE = 2e-3


def llvm_version():
    """The version of the installed LLVM."""
    config = LLVM / "bin/llvm-config"
    return subprocess.run([config, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def llvm_for_cubecl(target):
    """The environment in which CubeCL's build finds the installed LLVM where it would put its own."""
    config, version = LLVM / "bin/llvm-config", llvm_version()
    home = Path(target, "cubecl-llvm").resolve()
    for each in locked("tracel-llvm-bundler"):
        folder = home / "tracel" / f"tracel-llvm-{each}"
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        script = folder / "bin/llvm-config"
        script.write_text(CONFIG.format(library=f"LLVM-{version.split('.')[0]}", config=config))
        script.chmod(0o755)
        (folder / ".tracel-llvm-installed").touch()
    return {"XDG_DATA_HOME": str(home)}


def build(package, feature=None, flags=None):
    """The program of a package, or `None` and why there is none. With `flags` of rustc in a folder of its own."""
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target/bench-rust"))
    environment = dict(os.environ)
    if flags:
        target, environment["RUSTFLAGS"] = str(Path(target, package)), flags
    if package == "bench-cubecl":
        try:
            environment.update(llvm_for_cubecl(target))
        except (OSError, subprocess.CalledProcessError) as error:
            return None, f"there is no LLVM for its CPU runtime: {error}"
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", package, "--target-dir", target]
    if feature:
        command += ["--features", feature]
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, next((line for line in lines if line.startswith("error")), lines[-1] if lines else "cargo failed")
    return Path(target, "release", package), None


def locked(package):
    """The versions of a package in the lock file."""
    return re.findall(f'name = "{package}"\nversion = "(.*)"', (FOLDER / "Cargo.lock").read_text())


def measure(contestants, python, device, repeats):
    """Samples by measurement and contestant, seconds."""
    samples = {}
    checks = {kernel: {} for kernel in KERNELS}

    def note(measurement, name, values):
        samples.setdefault(measurement, {}).setdefault(name, []).extend(values)

    def run(program, *words):
        with tempfile.TemporaryDirectory(prefix="inkle-bench-") as cache:
            environment = dict(os.environ, INKLE_CACHE_PATH=cache, HOME=cache, CUDA_CACHE_DISABLE="1")
            return metered([str(program), *words], environment)

    for _ in range(repeats):
        for name, program in contestants.items():
            for kernel in KERNELS:
                done = run(program, "first", kernel, device)
                note(f"first result, {kernel}", name, [done.seconds_to_result()])
                checks[kernel][name] = done.printed["check"]
    for _ in range(max(1, repeats // 3)):
        for kernel in KERNELS:
            for name, program in contestants.items():
                printed = run(program, "steady", kernel, device).printed
                note(f"steady, {kernel}", name, [statistics.median(printed["samples"])])
            program = ROOT / "benches/programs/rust_kernels.py"
            done = subprocess.run([python, program, kernel, device], capture_output=True, text=True)
            if done.returncode == 0:
                # What the program logs comes first.
                printed = json.loads(done.stdout.splitlines()[-1])
                note(f"steady, {kernel}", "inkle, Python", [statistics.median(printed["samples"])])
        for name, program in contestants.items():
            # A function of Rust is called, not launched.
            for way in {"inkle": ("prepared", "plain"), "cubecl": ("plain",)}.get(name, ()):
                printed = run(program, "overhead", way, device).printed
                note(f"launch, {way}", name, [min(printed["samples"])])
    for kernel, found in checks.items():
        values = list(found.values())
        if max(values) - min(values) > TOLERANCE * max(1.0, *map(abs, values)):
            raise BenchError(f"the contestants compute different things in {kernel}: {found}")
    return samples


def targets(medians, device):
    """`(what, reached, limit, holds)` for each number the project set itself, reached and limit as text."""
    rows = []
    if device == "cpu":
        prepared = medians["launch, prepared"]["inkle"]
        rows.append(("prepared launch", human(prepared), f"under {human(PREPARED_LIMIT)}", prepared < PREPARED_LIMIT))
    for measurement, by in medians.items():
        if "cubecl" in by and not measurement.startswith("launch"):
            ratio = by["cubecl"] / by["inkle"]
            rows.append((f"{measurement}, CubeCL over inkle", f"{ratio:.2f}", "at least 1", ratio >= 1))
        if "rayon" in by and measurement.startswith("steady"):
            ratio = by["rayon"] / by["inkle"]
            rows.append((f"{measurement}, rayon over inkle", f"{ratio:.2f}", "at least 0.95", ratio >= 0.95))
        if "inkle, Python" in by:
            ratio = by["inkle"] / by["inkle, Python"]
            rows.append((f"{measurement}, Rust over Python", f"{ratio:.2f}", "at most 1.05", ratio <= 1.05))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    parser.add_argument("--repeats", type=int, default=9, help="processes a first result is measured in")
    parser.add_argument("--quick", action="store_true", help="one process each: a check of the benchmark")
    parser.add_argument("--programs", type=Path, help="a folder with the programs, built elsewhere")
    parser.add_argument("--without-cubecl", metavar="WHY", help="leave CubeCL out, for this reason")
    parser.add_argument("--out", type=Path, help="where to write the results")
    args = parser.parse_args()

    facts = machine_facts()
    programs, peer = {}, "built"
    if args.programs:
        programs = {name: args.programs / f"bench-{name}" for name in ("inkle", "rayon", "cubecl")}
        programs = {name: path for name, path in programs.items() if path.exists()}
        if "cubecl" not in programs:
            peer = f"not built: {args.without_cubecl or 'it is not in the folder of programs'}"
    else:
        programs["inkle"], why = build("bench-inkle")
        if why:
            sys.exit(f"bench: inkle's program does not build: {why}")
        if args.device == "cpu":
            programs["rayon"], why = build("bench-rayon", flags="-C target-cpu=native")
            if why:
                sys.exit(f"bench: the reference does not build: {why}")
        why = args.without_cubecl
        if not why:
            program, why = build("bench-cubecl", "cpu" if args.device == "cpu" else "cuda")
        if why:
            peer = f"not built: {why}"
            print(f"bench: CubeCL is left out: {why}", file=sys.stderr)
        else:
            programs["cubecl"] = program
    if "cubecl" in programs and args.device == "cpu":
        peer = f"built with LLVM {llvm_version()} in place of its makers'"
    try:
        samples = measure(programs, args.inkle_python, args.device, 1 if args.quick else args.repeats)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]
    medians = medians_of(samples)
    names = [
        name for name in ("inkle", "rayon", "cubecl", "inkle, Python") if any(name in by for by in medians.values())
    ]
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_average'][0]}, revision {facts['revision']}")
    rows = [(m, *(human(by[name]) if name in by else "" for name in names)) for m, by in medians.items()]
    print_table(("measurement (median)", *names), rows)
    verdicts = targets(medians, args.device)
    print_targets(verdicts)
    contestants = [
        Contestant("inkle", args.inkle_python, "inkle", package_versions(args.inkle_python, ("inkle",))),
        Contestant("rayon", "", "", {"rayon": "1", "rustc": "-O -C target-cpu=native"}),
        Contestant("cubecl", "", "", {"cubecl": locked("cubecl")[0], "status": peer}),
    ]
    name = "rust-cpu.json" if args.device == "cpu" else "rust-gpu.json"
    out = args.out or ROOT / "benches/results" / name
    write_results(out, facts, contestants, samples, {}, verdicts, args.quick)


if __name__ == "__main__":
    main()
