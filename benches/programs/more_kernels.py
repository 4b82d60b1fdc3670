"""Kernels that are measured for throughput only, apart so that the start-up program compiles three."""

from kernels import wp


@wp.kernel
def histogram(values: wp.array(dtype=float), counts: wp.array(dtype=int)):
    i = wp.tid()
    bins = counts.shape[0]
    wp.atomic_add(counts, wp.min(int(values[i] * float(bins)), bins - 1), 1)


@wp.kernel
def total(values: wp.array(dtype=float), sums: wp.array(dtype=float), slot: int):
    i = wp.tid()
    wp.atomic_add(sums, slot, values[i])
