"""wp.utils: scans, sorts, runs, sums, conversions; and arrays seen through lists of indices."""

import numpy as np
import pytest
from _wp import wp

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("inclusive", [True, False])
def test_scan(device, inclusive):
    values = RANDOM.integers(-50, 50, 1000).astype(np.int32)
    out = wp.zeros(1000, dtype=int, device=device)
    wp.utils.array_scan(wp.array(values, device=device), out, inclusive)
    sums = np.cumsum(values)
    np.testing.assert_array_equal(out.numpy(), sums if inclusive else sums - values)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.float32])
def test_sort_is_stable(device, dtype):
    keys = RANDOM.integers(0, 20, 300).astype(dtype)
    if dtype is not np.uint32:
        keys -= dtype(10)
    padded = wp.array(np.concatenate([keys, np.zeros_like(keys)]), device=device)
    places = wp.array(np.arange(600, dtype=np.int32), device=device)
    wp.utils.radix_sort_pairs(padded, places, 300)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(padded.numpy()[:300], keys[order])
    np.testing.assert_array_equal(places.numpy()[:300], order)


def test_sort_needs_room(device):
    keys = wp.zeros(3, dtype=int, device=device)
    with pytest.raises(RuntimeError, match=r"2\*count"):
        wp.utils.radix_sort_pairs(keys, wp.zeros(6, dtype=int, device=device), 3)


def test_runs(device):
    values = wp.array([4, 4, 4, 7, 4, 4], dtype=int, device=device)
    found, lengths = wp.zeros(6, dtype=int, device=device), wp.zeros(6, dtype=int, device=device)
    assert wp.utils.runlength_encode(values, found, lengths) == 3
    np.testing.assert_array_equal(found.numpy()[:3], [4, 7, 4])
    np.testing.assert_array_equal(lengths.numpy()[:3], [3, 1, 2])


def test_sums_along_axes(device):
    values = RANDOM.random((3, 4)).astype(np.float32)
    array = wp.array(values, device=device)
    assert wp.utils.array_sum(array) == pytest.approx(float(values.sum()), rel=1e-6)
    np.testing.assert_allclose(wp.utils.array_sum(array, axis=0).numpy(), values.sum(axis=0, keepdims=True), 1e-6)
    assert wp.utils.array_inner(array, array) == pytest.approx(float((values * values).sum()), rel=1e-6)


def test_cast(device):
    out = wp.zeros(3, dtype=int, device=device)
    wp.utils.array_cast(wp.array([1.75, -1.75, 3.0], dtype=float, device=device), out)
    np.testing.assert_array_equal(out.numpy(), [1, -1, 3])


@wp.kernel
def double_all(a: wp.indexedarray(dtype=float)):
    i = wp.tid()
    a[i] = 2.0 * a[i]


def test_indexed_array_changes_what_its_list_names(device):
    base = wp.array(np.arange(6, dtype=np.float32), device=device)
    places = wp.array([5, 1], dtype=int, device=device)
    indexed = wp.indexedarray1d(base, [places])
    assert indexed.shape == (2,)
    np.testing.assert_array_equal(indexed.numpy(), [5.0, 1.0])
    wp.launch(double_all, dim=2, inputs=[indexed], device=device)
    np.testing.assert_array_equal(base.numpy(), [0.0, 2.0, 2.0, 3.0, 4.0, 10.0])
    indexed.fill_(-1.0)
    np.testing.assert_array_equal(base.numpy(), [0.0, -1.0, 2.0, 3.0, 4.0, -1.0])


def test_indexed_array_of_two_dimensions(device):
    base = wp.array(np.arange(6, dtype=np.float32).reshape(2, 3), device=device)
    columns = wp.array([2, 0], dtype=int, device=device)
    np.testing.assert_array_equal(wp.indexedarray2d(base, [None, columns]).numpy(), [[2.0, 0.0], [5.0, 3.0]])
