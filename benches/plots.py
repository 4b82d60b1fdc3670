"""Draws the plots of `docs/performance.md` from the results that benchmarks left in `benches/results`.

Run it with a Python that has matplotlib (`scripts/setup.sh demo`), after `make bench` or `make bench-gpu`.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benches/results"
COLOURS = {"inkle": "#2b6cb0", "warp": "#a0aec0", "expert": "#2f855a", "cuda c++": "#2f855a", "limit": "#c53030"}
LABELS = {"inkle": "inkle", "warp": "Warp", "expert": "by hand, AVX-512", "cuda c++": "CUDA C++, nvcc -O3"}
LARGEST = 60_000

# Text stays text: small files that are searched and read aloud. A fixed salt makes equal results equal files.
plt.rcParams |= {
    "svg.fonttype": "none",
    "svg.hashsalt": "inkle",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def read(name):
    """The results of a file of `benches/results`; `None` where it is not there."""
    path = RESULTS / name
    return json.loads(path.read_text()) if path.exists() else None


def median(results, measurement, contestant):
    """The median in seconds, of the best form where the contestant has several; `None` where none was measured."""
    forms = results["samples"].get(measurement, {})
    found = [
        statistics.median(v) for name, v in forms.items() if name == contestant or name.startswith(f"{contestant},")
    ]
    return min(found, default=None)


def save(figure, folder, name):
    path = folder / f"{name}.svg"
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    size = path.stat().st_size
    if size > LARGEST:
        sys.exit(f"{path} has {size} bytes, more than {LARGEST}")
    print(f"{path}: {size} bytes")


def bars(axes, labels, rows, form):
    """A group of bars for each label; `rows` is `{contestant: [value or None]}`, `form` writes a value."""
    height = 0.8 / len(rows)
    for i, (contestant, values) in enumerate(rows.items()):
        places = [j + (i - (len(rows) - 1) / 2) * height for j in range(len(labels))]
        known = [(place, value) for place, value in zip(places, values) if value is not None]
        axes.barh(
            [place for place, _ in known],
            [value for _, value in known],
            height=0.9 * height,
            color=COLOURS[contestant],
            label=LABELS[contestant],
        )
        for place, value in known:
            axes.annotate(form(value), (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()


def machine(results):
    facts = results["machine"]
    where = facts["gpu"] if facts.get("gpu") else f"{facts['cpu']}, {facts['cores']} cores"
    return f"{where}, {facts['date'][:10]}"


def cpu_kernels(results, folder):
    """How many times Warp's speed each kernel has."""
    kernels = ("saxpy", "map", "nbody", "nbody, fast_math", "mandelbrot", "stencil", "search", "histogram")
    rows = {contestant: [] for contestant in ("warp", "inkle", "expert")}
    for kernel in kernels:
        warp = median(results, f"{kernel}, all cores", "warp")
        for contestant, values in rows.items():
            seconds = median(results, f"{kernel}, all cores", contestant)
            values.append(warp / seconds if warp and seconds else None)
    figure, axes = plt.subplots(figsize=(7, 5))
    bars(axes, kernels, rows, lambda value: f"{value:.3g}")
    axes.set_xscale("log")
    axes.set_xlabel("times Warp's speed")
    axes.set_title(f"CPU kernels ({machine(results)})", fontsize=10)
    axes.legend(frameon=False, loc="lower right")
    save(figure, folder, "cpu-kernels")


def cpu_bandwidth(results, folder):
    """What kernels that wait for memory reach of what it gives."""
    kernels = ("saxpy", "map", "stencil", "histogram")
    rows = {contestant: [] for contestant in ("warp", "inkle", "expert")}

    def rate(kernel, contestant):
        seconds = median(results, f"{kernel}, all cores", contestant)
        return results["work"][kernel]["bytes"] / seconds / 1e9 if seconds else None

    for kernel in kernels:
        for contestant, values in rows.items():
            values.append(rate(kernel, contestant))
    figure, axes = plt.subplots(figsize=(7, 3.4))
    bars(axes, kernels, rows, lambda value: f"{value:.3g}")
    if limit := rate("triad", "expert"):
        axes.axvline(limit, color=COLOURS["limit"], linestyle="--", linewidth=1)
        axes.annotate(f"STREAM triad {limit:.3g}", (limit, -0.55), color=COLOURS["limit"], fontsize=8, ha="center")
    axes.set_xlabel("GB/s of what is read and written")
    axes.set_title(f"CPU memory ({machine(results)})", fontsize=10)
    axes.legend(frameon=False)
    save(figure, folder, "cpu-bandwidth")


def gpu_kernels(results, folder):
    """Bandwidth beside that of a copy, and arithmetic."""
    names = [name for name in ("warp", "cuda c++", "inkle") if any(name in v for v in results["samples"].values())]

    def rate(kernel, contestant, unit):
        seconds = median(results, kernel, contestant)
        return results["work"][kernel][unit] / seconds / 1e9 if seconds else None

    figure, (moving, computing) = plt.subplots(2, 1, figsize=(7, 4), height_ratios=(2, 1), layout="constrained")
    kernels = ("saxpy", "trig")
    rows = {name: [rate(kernel, name, "bytes") for kernel in kernels] for name in names}
    bars(moving, ("saxpy", "map"), rows, lambda value: f"{value:.4g}")
    if limit := rate("copy", "cuda c++", "bytes"):
        moving.axvline(limit, color=COLOURS["limit"], linestyle="--", linewidth=1)
        moving.annotate(f"copy {limit:.4g}", (limit, -0.55), color=COLOURS["limit"], fontsize=8, ha="center")
    moving.set_xlabel("GB/s")
    moving.set_title(f"GPU kernels ({machine(results)})", fontsize=10)
    moving.legend(frameon=False, loc="lower left")
    rows = {name: [flops and flops / 1e3 for flops in [rate("nbody", name, "flop")]] for name in names}
    bars(computing, ("nbody",), rows, lambda value: f"{value:.3g}")
    computing.set_xlabel("TFLOP/s")
    save(figure, folder, "gpu-kernels")


def launches(results, folder):
    """What a launch costs by what it has to convert."""
    ways = [way for way in results["samples"] if way != "a Python function"]
    rows = {name: [median(results, way, name) for way in ways] for name in ("warp", "inkle")}
    rows = {name: [value and value * 1e9 for value in values] for name, values in rows.items()}
    figure, axes = plt.subplots(figsize=(7, 4))
    bars(axes, ways, rows, lambda value: f"{value:.3g}")
    if floor := median(results, "a Python function", "inkle"):
        axes.axvline(floor * 1e9, color=COLOURS["limit"], linestyle="--", linewidth=1)
        axes.annotate("an empty Python function", (floor * 1e9, -0.6), color=COLOURS["limit"], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("ns from Python, for a kernel of one thread on the CPU")
    axes.set_title(f"Launches ({machine(results)})", fontsize=10)
    axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(1, 0.9))
    save(figure, folder, "launches")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs/performance", help="the folder of the plots")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    for name, draws in {
        "kernels-cpu.json": (cpu_kernels, cpu_bandwidth),
        "gpu.json": (gpu_kernels,),
        "launches.json": (launches,),
    }.items():
        results = read(name)
        if results is None:
            print(f"{name} is not there: its plots are left as they are", file=sys.stderr)
            continue
        for draw in draws:
            draw(results, folder)


if __name__ == "__main__":
    main()
