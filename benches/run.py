"""inkle and Warp side by side on the CPU: start-up, compilation, launches, throughput.

Runs of the contestants alternate, each in a process of its own; cold runs get an empty kernel cache. The table
shows medians and how many times Warp's median inkle's goes into; the JSON keeps every sample with the machine's
facts. Targets are those the project set itself; they are printed, and never decide the exit code.
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

MILLISECOND = 1e-3
MEGABYTE = 1e6
FRONT_END = "kernel IR of a file of 551 lines"


def measure(contestants, repeats, quick):
    """Samples by measurement and contestant: `{measurement: {contestant: [seconds or bytes]}}`, and the work done."""
    samples = {}
    work = {}

    def note(measurement, name, values):
        samples.setdefault(measurement, {}).setdefault(name, []).extend(values)

    with tempfile.TemporaryDirectory(prefix="inkle-bench-") as scratch:
        caches = {contestant.name: Path(scratch, contestant.name) for contestant in contestants}
        for repeat in range(repeats):
            print(f"start-up, round {repeat + 1} of {repeats}", file=sys.stderr)
            floor = contestants[0].run("baseline.py")
            note("start: numpy only", "numpy", [floor.seconds_to_result()])
            note("start: numpy only, cpu time", "numpy", [floor.cpu_s])
            note("peak memory: numpy only", "numpy", [floor.peak_bytes])
            for contestant in contestants:
                note("import, after numpy", contestant.name, [contestant.run("import_only.py").printed["import_s"]])
                for state in ("cold", "warm"):
                    if state == "cold":
                        shutil.rmtree(caches[contestant.name], ignore_errors=True)
                    run = contestant.run("first_result.py", cache=caches[contestant.name])
                    note(f"start to first result, {state}", contestant.name, [run.seconds_to_result()])
                    note(f"start to end, {state}, cpu time", contestant.name, [run.cpu_s])
                    note(f"first launches of 3 kernels, {state}", contestant.name, [run.printed["first_launches_s"]])
                    note(f"peak memory, {state}", contestant.name, [run.peak_bytes])
        for repeat in range(1 if quick else 3):
            print(f"compilation, round {repeat + 1}", file=sys.stderr)
            for contestant in contestants:
                for state in ("cold", "warm"):
                    if state == "cold":
                        shutil.rmtree(caches[contestant.name], ignore_errors=True)
                    printed = contestant.run("many_kernels.py", cache=caches[contestant.name]).printed
                    seconds = printed["declare_s"] + printed["load_s"] + printed["first_launches_s"]
                    note(f"module of {printed['kernels']} kernels, {state}", contestant.name, [seconds])
                # Warp makes no IR of its own that could be asked for.
                if contestant.name == "inkle":
                    note(FRONT_END, contestant.name, contestant.run("front_end.py").printed["seconds"])
        for repeat in range(1 if quick else 3):
            print(f"graphs, round {repeat + 1}", file=sys.stderr)
            for contestant in contestants:
                printed = contestant.run("graphs.py", cache=caches[contestant.name], quick=quick).printed
                for measurement, values in printed["seconds"].items():
                    note(measurement, contestant.name, values)
        for repeat in range(1 if quick else 3):
            for cores in ("all cores", "one core"):
                print(f"throughput on {cores}, round {repeat + 1}", file=sys.stderr)
                for contestant in contestants:
                    run = contestant.run(
                        "cpu_throughput.py",
                        cache=caches[contestant.name],
                        one_core=cores == "one core",
                        quick=quick,
                    )
                    work = run.printed["work"]
                    for measurement, values in run.printed["seconds"].items():
                        note(f"{measurement}, {cores}", contestant.name, values)
    return samples, work


def targets(medians):
    """`(what, reached, limit, holds)` for each number the project set itself, reached and limit as text."""
    numpy_start = medians["start: numpy only"]["numpy"]
    cold, warm = "start to first result, cold", "start to first result, warm"

    def inkle(measurement):
        return medians[measurement]["inkle"]

    def warp(measurement):
        return medians[measurement]["warp"]

    times_sooner = warp(cold) / inkle(cold)
    share = inkle("peak memory, cold") / warp("peak memory, cold")
    rows = [
        ("cold start, times sooner than Warp", f"{times_sooner:.1f}", "at least 15", times_sooner >= 15.0),
        ("peak memory, share of Warp's", f"{share:.2f}", "at most 0.50", share <= 0.5),
    ]
    for what, value, limit in (
        ("cold start beyond numpy's", inkle(cold) - numpy_start, 60 * MILLISECOND),
        ("warm start beyond numpy's", inkle(warm) - numpy_start, 25 * MILLISECOND),
        ("import, after numpy", inkle("import, after numpy"), 20 * MILLISECOND),
        ("launch", inkle("launch, all cores"), 0.5e-6),
        ("recorded launch", inkle("recorded launch, all cores"), 0.1e-6),
        ("graph, replay per operation", inkle("graph, replay per operation"), 0.1e-6),
        ("graph, save 1000 launches", inkle("graph, save"), 1.8 * MILLISECOND),
        ("graph, load 1000 launches", inkle("graph, load"), 1.0 * MILLISECOND),
        (FRONT_END, inkle(FRONT_END), 10 * MILLISECOND),
    ):
        rows.append((what, human(value), f"under {human(limit)}", value <= limit))
    return rows


def rate(measurement, median, work):
    """What `median` seconds mean for the work of `measurement`, as text; empty when it has none."""
    amount = work.get(measurement.split(",")[0], {})
    if "bytes" in amount:
        return f"{amount['bytes'] / median / 1e9:.3g} GB/s"
    if "flop" in amount:
        return f"{amount['flop'] / median / 1e9:.3g} GFLOP/s"
    return ""


def report(samples, work):
    """Print the tables and return the medians."""
    medians = medians_of(samples)
    rows = []
    for measurement, by_name in medians.items():
        shown = {}
        for name, value in by_name.items():
            shown[name] = f"{value / MEGABYTE:.0f} MB" if "memory" in measurement else human(value)
            if spread := rate(measurement, value, work):
                shown[name] += f" ({spread})"
        ratio = f"{by_name['warp'] / by_name['inkle']:.2f}" if {"warp", "inkle"} <= by_name.keys() else ""
        quartiles = summary(samples[measurement][min(by_name)])
        span = 100 * (quartiles["q3"] - quartiles["q1"]) / quartiles["median"] if quartiles["median"] else 0.0
        rows.append(
            (measurement, shown.get("inkle") or shown.get("numpy", ""), shown.get("warp", ""), ratio, f"{span:.0f} %")
        )
    print_table(("measurement (median)", "inkle or numpy", "Warp", "Warp / inkle", "quartile span"), rows)
    return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inkle-python", default=str(ROOT / ".venv/bin/python"), help="a Python that has inkle")
    parser.add_argument("--inkle-module", default="inkle", help="the module measured as inkle")
    parser.add_argument("--warp-python", default=str(ROOT / ".bench-venv/bin/python"), help="a Python that has Warp")
    parser.add_argument("--repeats", type=int, default=9, help="rounds of the start-up measurements")
    parser.add_argument("--quick", action="store_true", help="small sizes and two rounds: a check of the benchmark")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/cpu.json")
    args = parser.parse_args()

    names = ("inkle", "warp-lang", "numpy")
    contestants = [
        Contestant("inkle", args.inkle_python, args.inkle_module, package_versions(args.inkle_python, names)),
        Contestant("warp", args.warp_python, "warp", package_versions(args.warp_python, names)),
    ]
    facts = machine_facts()
    try:
        samples, work = measure(contestants, 2 if args.quick else args.repeats, args.quick)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    facts["load_average_after"] = machine_facts()["load_average"]

    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_average'][0]}, revision {facts['revision']}")
    medians = report(samples, work)
    verdicts = targets(medians)
    print_targets(verdicts)
    write_results(args.out, facts, contestants, samples, work, verdicts, args.quick)


if __name__ == "__main__":
    main()
