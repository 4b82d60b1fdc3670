"""Helpers around kernels: algorithms over arrays, and context managers."""

from inkle._coloring import (
    GraphColoringAlgorithm,
    graph_coloring_assign,
    graph_coloring_balance,
    graph_coloring_get_groups,
)
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
    "GraphColoringAlgorithm",
    "ScopedDevice",
    "ScopedMempool",
    "ScopedStream",
    "ScopedTimer",
    "array_cast",
    "array_inner",
    "array_scan",
    "array_sum",
    "graph_coloring_assign",
    "graph_coloring_balance",
    "graph_coloring_get_groups",
    "radix_sort_pairs",
    "runlength_encode",
    "segmented_sort_pairs",
]
