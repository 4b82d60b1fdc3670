"""``utils.graph_coloring_*``: colours of graphs."""

import numpy as np
import pytest
from _wp import wp


def graph(nodes, count, seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, nodes, (count, 2)).astype(np.int32)
    return pairs[pairs[:, 0] != pairs[:, 1]]


@pytest.mark.parametrize("algorithm", ["MCS", "GREEDY"])
def test_assign_gives_a_valid_coloring(device, algorithm):
    edges = graph(100, 300, 3)
    colors = wp.empty(100, dtype=wp.int32, device="cpu")
    count = wp.utils.graph_coloring_assign(
        wp.array(edges, dtype=wp.int32, device="cpu"), colors, wp.utils.GraphColoringAlgorithm[algorithm]
    )
    found = colors.numpy()
    assert not (found[edges[:, 0]] == found[edges[:, 1]]).any()
    assert set(found) == set(range(count))
    groups = wp.utils.graph_coloring_get_groups(colors, count, device=device)
    assert sorted(np.concatenate([g.numpy() for g in groups])) == list(range(100))
    assert str(groups[0].device) == device


def test_balance_makes_groups_equal():
    edges = wp.array(graph(100, 200, 4), dtype=wp.int32, device="cpu")
    colors = wp.empty(100, dtype=wp.int32, device="cpu")
    count = wp.utils.graph_coloring_assign(edges, colors)
    before = np.bincount(colors.numpy())
    ratio = wp.utils.graph_coloring_balance(edges, colors, count, 1.1)
    after = np.bincount(colors.numpy(), minlength=count)
    assert ratio == pytest.approx(after.max() / after.min())
    assert ratio < before.max() / before.min()
    pairs = edges.numpy()
    assert not (colors.numpy()[pairs[:, 0]] == colors.numpy()[pairs[:, 1]]).any()


def test_limit_of_steps_warns():
    edges = wp.empty((0, 2), dtype=wp.int32, device="cpu")
    colors = wp.array([0, 0, 0, 0, 0, 1], dtype=wp.int32, device="cpu")
    with pytest.warns(UserWarning, match=r"1-iteration limit \(achieved ratio 2, target 1\)"):
        assert wp.utils.graph_coloring_balance(edges, colors, 2, 1.0, max_iterations=1) == 2.0


@pytest.mark.parametrize(
    "edges, problem",
    [
        ([[0, 2]], r"edge 0 has endpoints \(0, 2\)"),
        ([[-1, 0]], r"edge 0 has endpoints \(-1, 0\)"),
        ([[0, 1, 1]], r"must have shape \(edge_count, 2\)"),
    ],
)
def test_bad_edges_are_refused(edges, problem):
    colors = wp.zeros(2, dtype=wp.int32, device="cpu")
    with pytest.raises(RuntimeError, match=problem):
        wp.utils.graph_coloring_assign(wp.array(edges, dtype=wp.int32, device="cpu"), colors)
