"""The algorithms of `wp.utils` as kernels, which GPUs run: on every device here, and through `wp.utils` on GPUs."""

import numpy as np
import pytest
from _wp import ON_WARP, wp

if ON_WARP:
    pytest.skip("inkle's own kernels", allow_module_level=True)

from inkle import _parallel

RANDOM = np.random.default_rng(11)
# Less than a piece, whole pieces, several rounds.
SIZES = [1, 2, 127, 128, 129, 5000, 128 * 128 + 1]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("inclusive", [True, False])
def test_scan(device, count, inclusive):
    values = RANDOM.integers(-50, 50, (count, 2)).astype(np.int32)
    out = wp.zeros(count, dtype=wp.vec2i, device=device)
    _parallel.scan(wp.array(values, dtype=wp.vec2i, device=device), out, inclusive)
    sums = np.cumsum(values, axis=0)
    np.testing.assert_array_equal(out.numpy(), sums if inclusive else sums - values)


def test_scan_in_place_and_of_other_types(device):
    for dtype in (np.uint32, np.int64, np.uint64, np.float64):
        values = RANDOM.integers(0, 9, 300).astype(dtype)
        array = wp.array(values, device=device)
        _parallel.scan(array, array, True)
        np.testing.assert_array_equal(array.numpy(), np.cumsum(values, dtype=dtype))


def test_scan_between_arrays_with_gaps(device):
    source = wp.array(np.arange(20, dtype=np.float32), device=device)
    target = wp.zeros(20, dtype=float, device=device)
    _parallel.scan(source[::2], target[::2], True)
    np.testing.assert_array_equal(target.numpy()[::2], np.cumsum(np.arange(0, 20, 2)))
    assert not target.numpy()[1::2].any()


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums(device, count, dtype):
    values = RANDOM.random(count).astype(dtype)
    array, out = wp.array(values, device=device), wp.empty(1, dtype=wp.dtype_from_numpy(dtype), device=device)
    _parallel.total(array, out, None, None)
    np.testing.assert_allclose(out.numpy()[0], values.sum(dtype=np.float64), rtol=1e-6)
    _parallel.total(array, out, count // 2, None)
    np.testing.assert_allclose(out.numpy()[0], values[: count // 2].sum(dtype=np.float64), rtol=1e-6)
    _parallel.inner(array, array, out, None, None)
    np.testing.assert_allclose(out.numpy()[0], (values.astype(np.float64) ** 2).sum(), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_sums_along_an_axis(device, axis):
    values = RANDOM.random((5, 300, 7, 3)).astype(np.float32)
    array = wp.array(values, dtype=wp.vec3, device=device)
    shape = list(array.shape)
    shape[axis] = 1
    out = wp.empty(tuple(shape), dtype=wp.vec3, device=device)
    _parallel.total(array, out, None, axis)
    wanted = values.sum(axis=axis if axis >= 0 else 2, keepdims=True)
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-5)
    products = wp.empty(tuple(shape), dtype=float, device=device)
    _parallel.inner(array, array, products, 2, axis)
    part = np.take((values.astype(np.float64) ** 2).sum(axis=3), [0, 1], axis=axis if axis >= 0 else 2)
    np.testing.assert_allclose(products.numpy(), part.sum(axis=axis if axis >= 0 else 2, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
def test_runs(device, count, dtype):
    values = np.repeat(RANDOM.integers(0, 3, count), RANDOM.integers(1, 4, count))[:count].astype(dtype)
    array = wp.array(values, device=device)
    found, lengths = wp.zeros(count, dtype=array.dtype, device=device), wp.zeros(count, dtype=int, device=device)
    runs = wp.zeros(1, dtype=int, device=device)
    _parallel.runs(array, found, lengths, runs, count)
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    number = runs.numpy()[0]
    assert number == len(starts)
    np.testing.assert_array_equal(found.numpy()[:number], values[starts])
    np.testing.assert_array_equal(lengths.numpy()[:number], np.diff(np.r_[starts, count]))
    # Over itself, and of nothing.
    _parallel.runs(array, array, lengths, runs, count)
    np.testing.assert_array_equal(array.numpy()[:number], values[starts])
    _parallel.runs(array, found, lengths, runs, 0)
    assert runs.numpy()[0] == 0


def keys_of(dtype, count):
    if dtype in (np.float32, np.float64):
        keys = np.round(RANDOM.standard_normal(count) * 3).astype(dtype)
        keys[::7] *= -1  # Zeros of both signs.
        return keys
    info = np.iinfo(dtype)
    keys = RANDOM.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    return np.where(RANDOM.random(count) < 0.5, keys % dtype(5), keys)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64])
def test_sort_is_stable(device, dtype, count):
    keys = keys_of(dtype, count)
    padded = wp.array(np.concatenate([keys, np.zeros_like(keys)]), device=device)
    places = wp.array(np.arange(4 * count, dtype=np.int32).reshape(-1, 2), dtype=wp.vec2i, device=device)
    _parallel.sort_pairs(padded, places, count, 0, 8 * keys.itemsize)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(padded.numpy()[:count], keys[order])
    np.testing.assert_array_equal(places.numpy()[:count], np.stack([2 * order, 2 * order + 1], axis=1))


@pytest.mark.parametrize("bits", [(0, 4), (2, 9), (0, 12), (31, 32), (5, 5)])
def test_sort_by_some_bits(device, bits):
    keys = RANDOM.integers(0, 2**32, 500, dtype=np.uint32)
    padded = wp.array(np.concatenate([keys, keys]), device=device)
    places = wp.array(np.arange(1000, dtype=np.int32), device=device)
    _parallel.sort_pairs(padded, places, 500, *bits)
    part = (keys.astype(np.uint64) >> np.uint64(bits[0])) & np.uint64((1 << (bits[1] - bits[0])) - 1)
    np.testing.assert_array_equal(places.numpy()[:500], np.argsort(part, kind="stable"))


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("with_ends", [True, False])
def test_segments_are_sorted_each(device, dtype, with_ends):
    count = 1000
    keys = keys_of(dtype, count)
    cuts = np.sort(RANDOM.choice(count, 40, replace=False)).astype(np.int32)
    starts, ends = (cuts[::2], cuts[1::2]) if with_ends else (cuts[:-1], cuts[1:])
    given = RANDOM.permutation(len(starts)) if with_ends else np.arange(len(starts))
    padded = wp.array(np.concatenate([keys, keys]), device=device)
    places = wp.array(np.arange(2 * count, dtype=np.int32), device=device)
    lists = [wp.array(x[given] if with_ends else x, device=device) for x in ((starts, ends) if with_ends else (cuts,))]
    _parallel.segmented_sort_pairs(padded, places, count, lists[0], lists[1] if with_ends else None)
    order = np.arange(count)
    for start, end in zip(starts, ends):
        order[start:end] = start + np.argsort(keys[start:end], kind="stable")
    np.testing.assert_array_equal(places.numpy()[:count], order)
    np.testing.assert_array_equal(padded.numpy()[:count], keys[order])


def test_a_segment_outside_is_left_alone(device):
    keys = wp.array(np.array([3, 2, 1, 0, 0, 0, 0, 0], dtype=np.int32), device=device)
    places = wp.array(np.arange(8, dtype=np.int32), device=device)
    starts = wp.array([0, -1, 2], dtype=int, device=device)
    ends = wp.array([2, 2, 99], dtype=int, device=device)
    _parallel.segmented_sort_pairs(keys, places, 4, starts, ends)
    np.testing.assert_array_equal(places.numpy()[:4], [1, 0, 2, 3])


@pytest.mark.parametrize("to", ["int8", "uint16", "int64", "float16", "bfloat16", "float64", "bool"])
@pytest.mark.parametrize("source", ["int32", "uint8", "float32", "bool"])
def test_casts(device, source, to):
    wrapping = [-1.5, 300.7, 7e4] if source == "float32" else []
    values = np.array([0, 1, 2, 3, 100, 7, *wrapping], dtype=np.float32)
    a = wp.array(values, dtype=getattr(wp, source), device=device)
    host, made = (wp.zeros(len(values), dtype=getattr(wp, to), device=d) for d in ("cpu", device))
    wp.utils.array_cast(wp.array(values, dtype=getattr(wp, source), device="cpu"), host)
    _parallel.cast(a, made, None)
    np.testing.assert_array_equal(made.numpy(), host.numpy())


def test_casts_of_components(device):
    out = wp.zeros(6, dtype=int, device=device)
    _parallel.cast(wp.array([[1.5, 2.5, 3.5]], dtype=wp.vec3, device=device), out, None)
    np.testing.assert_array_equal(out.numpy(), [1, 2, 3, 0, 0, 0])


def test_graphs_hold_algorithms_on_gpus(cuda_device):
    keys = wp.array(np.array([3, 1, 2, 0, 0, 0], dtype=np.int32), device=cuda_device)
    places = wp.array(np.arange(6, dtype=np.int32), device=cuda_device)
    sums, total = wp.zeros(6, dtype=int, device=cuda_device), wp.zeros(1, dtype=float, device=cuda_device)
    floats = wp.ones(1000, dtype=float, device=cuda_device)
    with wp.ScopedCapture(cuda_device) as capture:
        wp.utils.radix_sort_pairs(keys, places, 3)
        wp.utils.array_scan(keys, sums)
        wp.utils.array_sum(floats, out=total)
    for new in ([9, 8, 7], [1, 5, 3]):
        keys.assign(np.array([*new, 0, 0, 0], dtype=np.int32))
        places.assign(np.arange(6, dtype=np.int32))
        wp.capture_launch(capture.graph)
        np.testing.assert_array_equal(keys.numpy()[:3], sorted(new))
        np.testing.assert_array_equal(places.numpy()[:3], np.argsort(new))
        np.testing.assert_array_equal(sums.numpy()[:3], np.cumsum(sorted(new)))
        assert total.numpy()[0] == 1000.0
