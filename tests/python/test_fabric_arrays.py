"""Fabric arrays: elements in buckets that another program owns."""

from typing import Any

import numpy as np
import pytest
from _wp import wp


def described(arrays, code, count=1, role="", nested=None, device="cpu"):
    """The description of an attribute `a` whose buckets are these arrays."""
    info = {"type": (True, code, count, 0 if nested is None else 1, role), "access": 2}
    info["pointers"] = [a.ptr for a in arrays]
    info["counts"] = [a.size for a in arrays]
    if nested is not None:
        info["array_lengths"] = [n.ptr for n in nested]
    return {"version": 1, "device": device, "attribs": {"a": info}, "owner": (arrays, nested)}


def buckets(device, sizes=(3, 1, 5)):
    starts = np.cumsum([0, *sizes])
    return [wp.array(np.arange(a, b, dtype=np.float32), device=device) for a, b in zip(starts, starts[1:])]


@wp.kernel
def add_one(values: wp.fabricarray(dtype=Any)):
    i = wp.tid()
    values[i] = values[i] + values.dtype(1.0)


@wp.kernel
def count_up(values: wp.fabricarray[float], old: wp.array[float]):
    i = wp.tid()
    old[i] = wp.atomic_add(values, i, 10.0)


@wp.kernel
def read_indexed(values: wp.indexedfabricarray[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = values[i] + values[-1]


@wp.kernel
def sums(rows: wp.fabricarrayarray(dtype=float), out: wp.array[float]):
    i = wp.tid()
    row = rows[i]
    for j in range(row.shape[0]):
        out[i] += row[j]
    rows[i, 0] = -1.0


def test_kernels_read_and_write_elements(device):
    parts = buckets(device)
    values = wp.fabricarray(described(parts, "f4", device=device), "a")
    assert (values.shape, values.ndim, values.size, values.dtype) == ((9,), 1, 9, wp.float32)
    wp.launch(add_one, 9, inputs=[values], device=device)
    np.testing.assert_array_equal(values.numpy(), np.arange(1, 10))
    old = wp.zeros(9, dtype=float, device=device)
    wp.launch(count_up, 9, inputs=[values, old], device=device)
    np.testing.assert_array_equal(old.numpy(), np.arange(1, 10))
    np.testing.assert_array_equal(np.concatenate([p.numpy() for p in parts]), np.arange(11, 20))


@pytest.mark.parametrize("sizes", [(1,), (1, 1), (64,), (5, 70, 1, 100, 2, 2, 2, 31)])
def test_every_bucket_is_found(device, sizes):
    values = wp.fabricarray(described(buckets(device, sizes), "f4", device=device), "a")
    np.testing.assert_array_equal(values.numpy(), np.arange(sum(sizes)))


def test_lists_choose_elements(device):
    values = wp.fabricarray(described(buckets(device), "f4", device=device), "a")
    some = values[wp.array([7, 0, 3], dtype=wp.int32, device=device)]
    assert isinstance(some, wp.indexedfabricarray) and some.shape == (3,)
    out = wp.zeros(3, dtype=float, device=device)
    wp.launch(read_indexed, 3, inputs=[some, out], device=device)
    np.testing.assert_array_equal(out.numpy(), [10, 3, 6])
    some.fill_(50.0)
    np.testing.assert_array_equal(values.numpy(), [50, 1, 2, 50, 4, 5, 6, 50, 8])


def test_elements_may_be_arrays(device):
    rows = [wp.array(np.arange(1, n + 1, dtype=np.float32), device=device) for n in (3, 1, 2)]
    addresses = [wp.array([r.ptr for r in part], dtype=wp.uint64, device=device) for part in (rows[:2], rows[2:])]
    lengths = [wp.array([r.size for r in part], dtype=wp.uint64, device=device) for part in (rows[:2], rows[2:])]
    values = wp.fabricarray(described(addresses, "f4", nested=lengths, device=device), "a")
    assert (values.ndim, values.shape) == (2, (3,))
    out = wp.zeros(3, dtype=float, device=device)
    wp.launch(sums, 3, inputs=[values, out], device=device)
    np.testing.assert_array_equal(out.numpy(), [6, 1, 3])
    assert [r.numpy()[0] for r in rows] == [-1, -1, -1]
    with pytest.raises(RuntimeError, match="arrays of arrays is not supported"):
        values.numpy()


@pytest.mark.parametrize(
    "count, role, expected", [(3, "vector", "vec3d"), (16, "matrix", "mat44d"), (4, "quaternion", "quatd")]
)
def test_roles_make_types(count, role, expected):
    data = wp.zeros((2, count), dtype=wp.float64, device="cpu")
    info = described([data], "f8", count, role)
    info["attribs"]["a"]["counts"] = [2]
    values = wp.fabricarray(info, "a")
    assert values.dtype is getattr(wp, expected)
    value = values.dtype(*range(count))
    values.fill_(value)
    assert values.list() == [value, value]


def test_structs_hold_fabric_arrays(device):
    @wp.struct
    class Holder:
        scale: float
        values: wp.fabricarray[float]

    @wp.kernel
    def scaled(holder: Holder, out: wp.array[float]):
        i = wp.tid()
        out[i] = holder.values[i] * holder.scale

    holder = Holder()
    holder.scale = 2.0
    holder.values = wp.fabricarray(described(buckets(device), "f4", device=device), "a")
    out = wp.zeros(9, dtype=float, device=device)
    wp.launch(scaled, 9, inputs=[holder, out], device=device)
    np.testing.assert_array_equal(out.numpy(), np.arange(9) * 2)


def test_copies_and_map(device):
    values = wp.fabricarray(described(buckets(device), "f4", device=device), "a")
    wp.copy(values, wp.full(9, 2.0, dtype=float, device=device))
    np.testing.assert_array_equal((values + values).numpy(), np.full(9, 4.0))
    np.testing.assert_array_equal(wp.clone(values).numpy(), np.full(9, 2.0))


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"version": 2}, "version: 2"),
        ({"attribs": {}}, "no Fabric attribute 'a'"),
    ],
)
def test_wrong_descriptions_are_refused(change, problem):
    with pytest.raises(ValueError, match=problem):
        wp.fabricarray({**described(buckets("cpu"), "f4"), **change}, "a")


@pytest.mark.parametrize(
    "kind, problem",
    [((True, "f4", 1, 0), "five elements, got 4"), ((True, "f4", 6, 0, "matrix"), "square element count, got 6")],
)
def test_wrong_types_are_refused(kind, problem):
    info = described(buckets("cpu"), "f4")
    info["attribs"]["a"]["type"] = kind
    with pytest.raises(ValueError, match=problem):
        wp.fabricarray(info, "a")


def test_kinds_are_told_apart():
    values = wp.fabricarray(described(buckets("cpu"), "f4"), "a")
    out = wp.zeros(9, dtype=float, device="cpu")
    with pytest.raises(RuntimeError, match="of type indexedfabricarray"):
        wp.launch(read_indexed, 9, inputs=[values, out], device="cpu")
    with pytest.raises(RuntimeError, match="of type fabricarray"):
        wp.launch(count_up, 9, inputs=[out, out], device="cpu")


def test_arrays_like_them_are_plain(device):
    values = wp.fabricarray(described(buckets(device), "f4", device=device), "a")
    for like in (values, values[wp.array([1, 2], dtype=int, device=device)]):
        made = wp.zeros_like(like)
        assert (type(made), made.shape, made.dtype) == (wp.array, like.shape, wp.float32)
