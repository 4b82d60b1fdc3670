"""Helpers around kernels: algorithms over arrays, and context managers."""

from inkle._native import (
    array_cast,
    array_inner,
    array_scan,
    array_sum,
    radix_sort_pairs,
    runlength_encode,
    segmented_sort_pairs,
)
from inkle._scopes import ScopedDevice, ScopedMempool, ScopedStream, ScopedTimer

__all__ = [
    "ScopedDevice",
    "ScopedMempool",
    "ScopedStream",
    "ScopedTimer",
    "array_cast",
    "array_inner",
    "array_scan",
    "array_sum",
    "radix_sort_pairs",
    "runlength_encode",
    "segmented_sort_pairs",
]
