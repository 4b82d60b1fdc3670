"""Colouring of graphs: nodes of one colour have no edge between them, so a solver can update them all at once."""

from enum import IntEnum

from inkle import _native
from inkle._logger import log_warning


class GraphColoringAlgorithm(IntEnum):
    """In which order nodes get the smallest colour that no neighbour has."""

    MCS = 0
    """Maximum cardinality search: next is the node with the most coloured neighbours. Few colours."""

    GREEDY = 1
    """Nodes with many neighbours first. Fast."""


def graph_coloring_assign(edges, node_colors, algorithm=GraphColoringAlgorithm.MCS):
    """Colours a graph so that no edge joins two nodes of one colour.

    Args:
        edges: The nodes of each edge, an ``int32`` array of shape ``(edge_count, 2)``.
        node_colors: Where the colour of each node is stored, an ``int32`` array with an element per node.
        algorithm: In which order the nodes are coloured.

    Returns:
        The number of colours.
    """
    return _native.graph_coloring_assign(edges, node_colors, algorithm)


def graph_coloring_balance(edges, node_colors, color_count, target_max_min_ratio, *, max_iterations=None):
    """Changes a colouring so that its colours are about equally frequent.

    Args:
        edges: The nodes of each edge, an ``int32`` array of shape ``(edge_count, 2)``.
        node_colors: The colour of each node, a valid colouring; changed in place.
        color_count: The number of colours.
        target_max_min_ratio: Stops when the most frequent colour has at most this many times the nodes of the rarest.
        max_iterations: At most so many nodes change their colour; ``None`` for no limit.

    Returns:
        The ratio that was reached.
    """
    ratio, is_stopped = _native.graph_coloring_balance(
        edges, node_colors, color_count, target_max_min_ratio, max_iterations
    )
    if is_stopped:
        log_warning(
            f"Graph coloring stopped because it reached the {max_iterations}-iteration limit "
            f"(achieved ratio {ratio:g}, target {target_max_min_ratio:g})."
        )
    return ratio


def graph_coloring_get_groups(node_colors, color_count, return_wp_array=True, device="cpu"):
    """The nodes of each colour, as a tuple of arrays on ``device``, or of numpy arrays."""
    groups = _native.graph_coloring_groups(node_colors, color_count, device if return_wp_array else "cpu")
    return groups if return_wp_array else tuple(group.numpy() for group in groups)
