"""What every benchmark here shares: running a program and metering it, statistics, machine facts, tables."""

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(__file__).resolve().parent / "programs"


class BenchError(Exception):
    """A program of the benchmark failed; its output is the message."""


@dataclass
class Run:
    """One process: what it printed, and what it cost from its start to its end."""

    printed: dict
    start_ns: int
    cpu_s: float
    peak_bytes: int

    def seconds_to_result(self):
        """From the start of the process to when it says it had its results."""
        return (self.printed["done_ns"] - self.start_ns) / 1e9


@dataclass
class Contestant:
    """A Python with a module to measure in it."""

    name: str
    python: str
    module: str
    versions: dict = field(default_factory=dict)

    def run(self, program, cache=None, device=None, one_core=False, quick=False, settings=()):
        """Run `programs/<program>` in a fresh process; `cache` is the folder of its kernel cache, `settings` are more
        pairs of its environment."""
        environment = dict(os.environ, BENCH_MODULE=self.module, **dict(settings))
        environment["CUDA_CACHE_DISABLE"] = "1"
        if cache is not None:
            environment["BENCH_CACHE"] = str(cache)
        if device is not None:
            environment["BENCH_DEVICE"] = device
        if quick:
            environment["BENCH_QUICK"] = "1"
        return metered([self.python, str(PROGRAMS / program)], environment, one_core)


def metered(command, environment, one_core=False):
    """Run `command`, whose last line of output is JSON, and meter it.

    `one_core` pins the process to the first core it may use, so that thread pools shrink with it.
    """
    affinity = os.sched_getaffinity(0)
    if one_core:
        # Set here and put back below, because a hook between fork and exec would be on the measured path.
        os.sched_setaffinity(0, {min(affinity)})
    try:
        start_ns = time.monotonic_ns()
        child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        os.sched_setaffinity(0, affinity)
    with child:
        # Programs print little, so reading one stream after the other cannot fill the second one's pipe.
        printed, complaints = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    lines = printed.strip().splitlines()
    if child.returncode != 0 or not lines:
        shown = " ".join(command)
        raise BenchError(f"{shown} ended with {child.returncode}\n{printed[-2000:]}{complaints[-4000:]}")
    # Linux gives the peak in units of 1024 bytes.
    return Run(json.loads(lines[-1]), start_ns, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def summary(samples):
    """Median, smallest and quartiles of `samples`, all in the samples' own unit."""
    ordered = sorted(samples)
    if len(ordered) > 1:
        low, _, high = statistics.quantiles(ordered, n=4, method="inclusive")
    else:
        low = high = ordered[0]
    median = statistics.median(ordered)
    return {"median": median, "min": ordered[0], "q1": low, "q3": high, "n": len(ordered)}


def has_module(python, module):
    """Whether `python` can import `module`."""
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def package_versions(python, names):
    """Versions of the packages of `names` that `python` has, and its own."""
    program = (
        "import importlib.metadata as m, json, platform, sys\n"
        "found = {'python': platform.python_version()}\n"
        "for name in sys.argv[1:]:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    return json.loads(
        subprocess.run([python, "-c", program, *names], check=True, capture_output=True, text=True).stdout
    )


def machine_facts():
    """Processor, cores, memory, versions, load, date and source revision: what a number means little without."""

    def first_line(command):
        try:
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""

    cpu = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    revision = os.environ.get("BENCH_REVISION") or first_line(["git", "rev-parse", "--short=12", "HEAD"])
    dirty = first_line(["git", "status", "--porcelain", "--untracked-files=no"])
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "os": platform.platform(),
        "python": platform.python_version(),
        "rustc": first_line(["rustc", "--version"]),
        "gpu": first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "revision": f"{revision}{'+changes' if dirty else ''}" if revision else None,
    }


def human(seconds):
    """`seconds` with the unit that suits it."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def print_table(header, rows):
    """Print `rows` under `header`: the first column flush left, the others flush right."""
    widths = [max(len(str(row[column])) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [str(row[0]).ljust(widths[0])]
        cells += [str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())


def medians_of(samples):
    """`samples` as `{measurement: {contestant: [values]}}`, reduced to medians."""
    return {
        measurement: {name: summary(values)["median"] for name, values in by_name.items()}
        for measurement, by_name in samples.items()
    }


def print_targets(verdicts):
    """Print `(what, reached, limit, holds)` for each number the project set itself; they decide no exit code."""
    if verdicts:
        print()
        print_table(
            ("target", "now", "limit", ""), [(*row, "reached" if holds else "MISSED") for *row, holds in verdicts]
        )


def write_results(path, facts, contestants, samples, work, verdicts, quick):
    """Write everything a run of a benchmark found as JSON; `benches/results/README.md` says what is where."""
    results = {
        "machine": facts,
        "versions": {contestant.name: contestant.versions for contestant in contestants},
        "quick": quick,
        "summary": {m: {name: summary(values) for name, values in by.items()} for m, by in samples.items()},
        "work": work,
        "targets": [dict(zip(("what", "now", "limit", "reached"), row, strict=True)) for row in verdicts],
        "samples": samples,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"written to {path}", file=sys.stderr)
