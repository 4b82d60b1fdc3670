"""Arrays seen through lists of indices."""

from typing import Any

import numpy as np
import pytest
from _support import run
from _wp import wp


@wp.kernel
def double1(a: wp.indexedarray(dtype=float), n: wp.array(dtype=int)):
    i = wp.tid()
    a[i] = 2.0 * a[i]
    wp.atomic_add(a, i, 1.0)
    a[i] += 1.0
    n[0] = a.shape[0]


def test_kernels_read_and_write_through_the_list(device):
    base = wp.array(np.arange(10), dtype=float, device=device)
    a = wp.indexedarray(base, [wp.array([1, 3, 8], dtype=int, device=device)])
    n = wp.zeros(1, dtype=int, device=device)
    assert a.shape == (3,) and a.ndim == 1 and a.size == 3 and a.dtype == base.dtype
    wp.launch(double1, dim=3, inputs=[a, n], device=device)
    want = np.arange(10, dtype=np.float32)
    want[[1, 3, 8]] = want[[1, 3, 8]] * 2 + 2
    np.testing.assert_array_equal(base.numpy(), want)
    assert n.numpy()[0] == 3


@wp.kernel
def sums(a: wp.indexedarray2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    row = a[i]
    out[i, j] = a[i, j] + 100.0 * row[j] + 10000.0 * a[i][-1]


@pytest.mark.parametrize("rows", [None, [2, 0], [1, 1, 3]])
@pytest.mark.parametrize("columns", [None, [4, 1, 0]])
def test_two_dimensions_with_and_without_lists(device, rows, columns):
    values = np.arange(20, dtype=np.float32).reshape(4, 5)
    lists = [None if x is None else wp.array(x, dtype=int, device=device) for x in (rows, columns)]
    a = wp.indexedarray2d(wp.array(values, device=device), lists)
    seen = values[np.ix_(range(4) if rows is None else rows, range(5) if columns is None else columns)]
    assert a.shape == seen.shape
    np.testing.assert_array_equal(a.numpy(), seen)
    np.testing.assert_array_equal(a.contiguous().numpy(), seen)
    got = run(sums, float, seen.shape, a, dim=seen.shape, device=device)
    np.testing.assert_array_equal(got, seen * 101 + 10000 * seen[:, -1:])


def test_strided_arrays_can_be_indexed(device):
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    base = wp.array(values, device=device)[::2, 1:]
    a = wp.indexedarray(base, [None, wp.array([3, 0], dtype=int, device=device)])
    np.testing.assert_array_equal(a.numpy(), values[::2, 1:][:, [3, 0]])


@wp.kernel
def increment(a: Any):
    i = wp.tid()
    a[i] = a[i] + 1


def test_generic_kernels_take_both_kinds(device):
    base = wp.zeros(5, dtype=int, device=device)
    a = wp.indexedarray(base, [wp.array([0, 4], dtype=int, device=device)])
    wp.launch(increment, dim=5, inputs=[base], device=device)
    wp.launch(increment, dim=2, inputs=[a], device=device)
    assert base.numpy().tolist() == [2, 1, 1, 1, 2]
    assert a.numpy().tolist() == [2, 2]


def test_filling_changes_what_the_list_names(device):
    base = wp.zeros(5, dtype=wp.vec2, device=device)
    a = wp.indexedarray(base, [wp.array([3, 1], dtype=int, device=device)])
    a.fill_(wp.vec2(1.0, 2.0))
    assert base.numpy().tolist() == [[0, 0], [1, 2], [0, 0], [1, 2], [0, 0]]
    a.zero_()
    assert not base.numpy().any()
    a.assign(wp.array([[5.0, 6.0], [7.0, 8.0]], dtype=wp.vec2, device=device))
    assert base.numpy()[[3, 1]].tolist() == [[5, 6], [7, 8]]


def test_kinds_are_not_confused(device):
    base = wp.zeros(5, dtype=float, device=device)
    n = wp.zeros(1, dtype=int, device=device)
    a = wp.indexedarray(base, [wp.array([0, 4], dtype=int, device=device)])
    with pytest.raises(Exception, match="indexedarray"):
        wp.launch(double1, dim=1, inputs=[base, n], device=device)
    with pytest.raises(Exception, match="array"):
        wp.launch(increment_plain, dim=1, inputs=[a], device=device)
    with pytest.raises(Exception, match="(?i)ind"):
        wp.indexedarray(base, [wp.array([0.5], dtype=float, device=device)])
    with pytest.raises(Exception, match="(?i)ind"):
        wp.indexedarray(base, [None, wp.array([0], dtype=int, device=device)])


@wp.kernel
def increment_plain(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] + 1.0


def test_subscripts_with_lists_make_indexed_arrays(device):
    values = np.arange(12).reshape(3, 4)
    base = wp.array(values, dtype=int, device=device)
    rows = wp.array([2, 0], dtype=int, device=device)
    np.testing.assert_array_equal(base[rows].numpy(), values[[2, 0]])
    np.testing.assert_array_equal(base[1:, rows].numpy(), values[1:][:, [2, 0]])
    np.testing.assert_array_equal(wp.clone(base[rows]).numpy(), values[[2, 0]])
    copy = wp.zeros((2, 4), dtype=int, device=device)
    wp.copy(copy, base[rows])
    np.testing.assert_array_equal(copy.numpy(), values[[2, 0]])


@wp.struct
class Holder:
    a: wp.indexedarray(dtype=float)
    n: int


@wp.kernel
def through_struct(h: Holder, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = h.a[i] + float(h.n)


def test_structs_hold_indexed_arrays(device):
    h = Holder()
    h.a = wp.indexedarray(
        wp.array([1.0, 2.0, 4.0], dtype=float, device=device), [wp.array([2, 0], dtype=int, device=device)]
    )
    h.n = 10
    assert run(through_struct, float, 2, h, dim=2, device=device).tolist() == [14.0, 11.0]


@wp.struct
class Packed:
    a: wp.float64
    b: wp.int8
    c: wp.vec3


@pytest.mark.parametrize("dtype", [wp.int8, wp.float16, wp.vec3, wp.mat22d, wp.bool, wp.vec4us, Packed])
def test_fills_and_copies_of_every_width(device, dtype):
    base = wp.zeros((4, 6), dtype=dtype, device=device)
    seen = wp.indexedarray2d(base[:, ::2], [wp.array([3, 1], dtype=int, device=device), None])
    if dtype is Packed:
        value = Packed()
        value.a, value.b, value.c = 1.5, 7, wp.vec3(1.0, 2.0, 3.0)
    else:
        value = dtype(1)
    seen.fill_(value)
    one = wp.full(1, value, dtype=dtype, device=device).numpy()[0]
    want = base.numpy().copy()
    blank = want.copy()
    blank[...] = np.zeros_like(one)
    wanted = blank.copy()
    wanted[1, ::2] = one
    wanted[3, ::2] = one
    np.testing.assert_array_equal(want, wanted)
    np.testing.assert_array_equal(seen.numpy(), np.full((2, 3, *np.shape(one)), one))
    seen.zero_()
    np.testing.assert_array_equal(base.numpy(), blank)


def test_four_dimensions_with_lists_on_both_sides(device):
    values = np.arange(2 * 3 * 4 * 5, dtype=np.float64).reshape(2, 3, 4, 5)
    lists = [wp.array(x, dtype=int, device=device) for x in ([1], [2, 0], [3, 3, 0], [4, 1])]
    source = wp.indexedarray4d(wp.array(values, device=device), lists)
    target = wp.zeros((1, 2, 3, 9), dtype=wp.float64, device=device)
    wp.copy(wp.indexedarray4d(target, [None, None, None, wp.array([8, 2], dtype=int, device=device)]), source)
    want = np.zeros((1, 2, 3, 9))
    want[..., [8, 2]] = values[np.ix_([1], [2, 0], [3, 3, 0], [4, 1])]
    np.testing.assert_array_equal(target.numpy(), want)


def test_a_copy_of_another_type_is_refused(device):
    seen = wp.indexedarray(wp.zeros(3, dtype=int, device=device), wp.array([1], dtype=int, device=device))
    with pytest.raises(TypeError, match="float32"):
        wp.copy(seen, wp.zeros(1, dtype=float, device=device))
