"""Views, reshaping, filling and copying."""

import gc
import weakref

import numpy as np
import pytest
from _support import differs_from_warp
from _wp import wp


def make(shape, device, dtype=np.int32):
    data = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    return data, wp.array(data, device=device)


KEYS = [
    np.s_[1], np.s_[-1], np.s_[1:3], np.s_[:], np.s_[::2], np.s_[1::2, 1:], np.s_[:, 1], np.s_[0, 1], np.s_[-2, 1:3], np.s_[:, :, 2], np.s_[1:1],
    np.s_[1:3, 0, ::2], np.s_[-3:-1], np.s_[:, -1, 1],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_gives_views(device, key):
    data, a = make((4, 3, 5), device)
    view, want = a[key], data[key]
    assert view.shape == want.shape and view.strides == want.strides and view.dtype is a.dtype
    np.testing.assert_array_equal(view.numpy(), want)
    assert view.is_contiguous == bool(want.flags.c_contiguous) or 0 in want.shape
    view.fill_(77)
    want[...] = 77
    np.testing.assert_array_equal(a.numpy(), data)


def test_views_of_views(device):
    data, a = make((6, 8), device)
    np.testing.assert_array_equal(a[1:5][::2][:, 1:7:2][1].numpy(), data[1:5][::2][:, 1:7:2][1])


@pytest.mark.parametrize(
    "key", [np.s_[4], np.s_[-5], np.s_[0, 0, 0, 0], np.s_[::-1], np.s_[[0, 1]], np.s_["x"]], ids=str
)
def test_refused_indices(device, key):
    _, a = make((4, 3, 5), device)
    with pytest.raises(Exception):  # noqa: B017
        a[key]


def test_view_keeps_its_memory_alive(device):
    row = wp.full((3, 1000), 5, dtype=int, device=device)[1]
    for _ in range(20):
        wp.full((3, 1000), -1, dtype=int, device=device)
    assert (row.numpy() == 5).all()


def test_reshape_and_flatten(device):
    data, a = make((4, 6), device)
    for shape in [(24,), (2, 12), (3, 2, 4), (2, 2, 2, 3), (-1,), (8, -1), (-1, 2, 3)]:
        np.testing.assert_array_equal(a.reshape(shape).numpy(), data.reshape(shape))
    np.testing.assert_array_equal(a.reshape(-1).numpy(), data.reshape(-1))
    np.testing.assert_array_equal(a.flatten().numpy(), data.ravel())
    a.reshape((6, 4))[5, 1:].fill_(-1)
    assert a.numpy().ravel()[21:].tolist() == [-1, -1, -1]
    for bad in [(5, 5), (7, -1), (-1, -1)]:
        with pytest.raises(Exception):  # noqa: B017
            a.reshape(bad)
    with pytest.raises(RuntimeError, match="contiguous"):
        a[:, ::2].reshape((12,))
    with pytest.raises(RuntimeError, match="contiguous"):
        a[:, ::2].flatten()


def test_view_as_another_type(device):
    a = wp.array([1.0, -2.0, 0.5], dtype=float, device=device)
    bits = a.view(wp.int32)
    np.testing.assert_array_equal(bits.numpy(), np.array([1.0, -2.0, 0.5], np.float32).view(np.int32))
    bits.zero_()
    assert not a.numpy().any()
    v = wp.zeros((4, 3), dtype=float, device=device).view(wp.vec3)
    assert v.shape == (4,) and v.dtype is wp.vec3
    with pytest.raises(TypeError):
        a.view(wp.float64)


def test_transpose(device):
    data, a = make((2, 3, 4), device)
    np.testing.assert_array_equal(a.transpose().numpy(), data.T)
    for axes in [(2, 0, 1), (1, 0, 2), (0, 1, 2)]:
        t = a.transpose(axes)
        assert t.strides == data.transpose(axes).strides
        np.testing.assert_array_equal(t.numpy(), data.transpose(axes))
    assert not a.transpose().is_contiguous
    with pytest.raises(Exception):  # noqa: B017
        a.transpose((0, 1))


@differs_from_warp("axes are not checked")
@pytest.mark.parametrize("axes", [(0, 0, 1), (0, 1, 3), (0, 1, -4)])
def test_transpose_checks_its_axes(axes):
    _, a = make((2, 3, 4), "cpu")
    with pytest.raises(Exception):  # noqa: B017
        a.transpose(axes)


def test_contiguous(device):
    data, a = make((4, 6), device)
    assert a.contiguous() is a
    packed = a[:, 1:4].contiguous()
    assert packed.is_contiguous and packed.strides == (12, 4)
    np.testing.assert_array_equal(packed.numpy(), data[:, 1:4])
    packed.zero_()
    np.testing.assert_array_equal(a.numpy(), data)


def test_fill_and_zero(device):
    a = wp.zeros((3, 4), dtype=float, device=device)
    a.fill_(2)
    assert (a.numpy() == 2.0).all()
    a[1].fill_(5.5)
    a[:, 2].fill_(-1.0)
    a[::2, 3].zero_()
    assert a.numpy().tolist() == [[2, 2, -1, 0], [5.5, 5.5, -1, 5.5], [2, 2, -1, 0]]
    v = wp.zeros(3, dtype=wp.vec3, device=device)
    v.fill_(wp.vec3(1, 2, 3))
    assert v.numpy().tolist() == [[1, 2, 3]] * 3
    v.fill_((4, 5, 6))
    assert v.numpy().tolist() == [[4, 5, 6]] * 3
    v.fill_(2.0)
    assert v.numpy().tolist() == [[2, 2, 2]] * 3
    for dtype in (wp.int8, wp.uint64, wp.float64, wp.float16, wp.bool):
        b = wp.zeros(5, dtype=dtype, device=device)
        b.fill_(1)
        assert (b.numpy() == 1).all()
    for bad in ("a", None, [1.0, 2.0]):
        with pytest.raises(Exception):  # noqa: B017
            a.fill_(bad)


def test_assign(device):
    a = wp.zeros((2, 3), dtype=float, device=device)
    for source in (
        [[1, 2, 3], [4, 5, 6]],
        np.arange(1, 7).reshape(2, 3),
        np.arange(1.0, 7.0),
        wp.array([[1.0, 2, 3], [4, 5, 6]], dtype=float, device="cpu"),
    ):
        a.zero_()
        a.assign(source)
        assert a.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    a[:, 1].assign([7.0, 8.0])
    assert a.numpy().tolist() == [[1, 7, 3], [4, 8, 6]]
    v = wp.zeros(2, dtype=wp.vec3, device=device)
    v.assign(np.arange(6.0).reshape(2, 3))
    assert v.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_clone(device):
    data, a = make((4, 3), device)
    for source, want in ((a, data), (a[::2], data[::2]), (a[:, 1], data[:, 1])):
        copy = wp.clone(source)
        assert copy.is_contiguous and copy.shape == want.shape and str(copy.device) == device
        copy.fill_(1)
        np.testing.assert_array_equal(source.numpy(), want)
    np.testing.assert_array_equal(wp.clone(a, device="cpu").numpy(), data)


def ints(values, device):
    return wp.array(np.asarray(values, dtype=np.int32), device=device)


def test_copy_whole_and_part(device):
    dst = ints([0] * 6, device)
    wp.copy(dst, ints(range(1, 7), device))
    assert dst.numpy().tolist() == [1, 2, 3, 4, 5, 6]
    wp.copy(dst, ints([10, 20, 30], device), dest_offset=2, src_offset=1, count=2)
    assert dst.numpy().tolist() == [1, 2, 20, 30, 5, 6]
    wp.copy(dest=dst, src=ints([7], device), count=1)
    assert dst.numpy()[0] == 7
    with pytest.raises(Exception):  # noqa: B017
        wp.copy(ints([0, 0], device), ints([1, 2, 3], device))
    with pytest.raises(Exception):  # noqa: B017
        wp.copy(dst, ints([1, 2], device), dest_offset=5, count=2)


def test_copy_between_strided_arrays(device):
    base = ints([0] * 8, device)
    wp.copy(base[::2], ints(range(8), device)[1::2])
    assert base.numpy().tolist() == [1, 0, 3, 0, 5, 0, 7, 0]
    data, m = make((3, 4), device)
    column = wp.zeros(3, dtype=int, device=device)
    wp.copy(column, m[:, 2])
    assert column.numpy().tolist() == data[:, 2].tolist()
    turned = wp.zeros((4, 3), dtype=int, device=device)
    wp.copy(turned, m.transpose())
    np.testing.assert_array_equal(turned.numpy(), data.T)


def test_copy_between_devices(cuda_device):
    data, a = make((50, 3), cuda_device)
    host = wp.zeros((50, 3), dtype=int, device="cpu")
    wp.copy(host, a)
    np.testing.assert_array_equal(host.numpy(), data)
    host.fill_(4)
    wp.copy(a, host)
    assert (a.numpy() == 4).all()
    part = a[:, 1]
    wp.copy(part, wp.full(50, 9, dtype=int, device="cpu"))
    assert (a.numpy()[:, 1] == 9).all() and (a.numpy()[:, 0] == 4).all()
    assert (
        str(a.to("cpu").device) == "cpu" and str(host.to(cuda_device).device) == cuda_device and a.to(cuda_device) is a
    )


def test_pinned_memory(cuda_device):
    pinned = wp.zeros(1000, dtype=float, device="cpu", pinned=True)
    assert pinned.pinned and not wp.zeros(3, dtype=float, device="cpu").pinned
    source = wp.full(1000, 3.0, dtype=float, device=cuda_device)
    wp.copy(pinned, source)
    wp.synchronize_device(cuda_device)
    assert (pinned.numpy() == 3.0).all()
    assert wp.clone(source, device="cpu", pinned=True).pinned


def test_overlapping_views_share_elements(device):
    _, a = make((10,), device)
    left, right = a[0:6], a[4:10]
    left.zero_()
    assert right.numpy().tolist() == [0, 0, 6, 7, 8, 9]


def test_copies_of_parts_of_strided_arrays(device):
    source = wp.array(np.arange(12), dtype=int, device=device)[::2]
    target = wp.zeros(8, dtype=int, device=device)[1::2]
    wp.copy(target, source, dest_offset=1, src_offset=3, count=2)
    assert list(target.numpy()) == [0, 6, 8, 0]
    with pytest.raises(RuntimeError, match="exceeds the source size"):
        wp.copy(target, source, src_offset=5, count=2)
    grid = wp.zeros((4, 4), dtype=int, device=device)[::2, ::2]
    with pytest.raises(RuntimeError, match="only supported for 1-D"):
        wp.copy(grid, grid, count=2)
    with pytest.raises(RuntimeError, match=r"destination shape=\(2, 2\), source shape=\(3, 2\)"):
        wp.copy(grid, wp.zeros((6, 4), dtype=int, device=device)[::2, ::2])


@pytest.mark.parametrize("option, value", [("count", -1), ("dest_offset", -1), ("src_offset", 1.5)])
def test_copies_want_counts(option, value):
    array = wp.zeros(4, dtype=int, device="cpu")
    with pytest.raises(RuntimeError, match="non-negative|must be integers"):
        wp.copy(array, array, **{option: value})


def test_views_of_other_sizes_say_which():
    array = wp.zeros((2, 4), dtype=float, device="cpu")
    with pytest.raises(TypeError, match="source dtype has size 4 bytes, but target dtype has size 8 bytes"):
        array.view(wp.float64)
    with pytest.raises(TypeError, match="target scalar dtype float64 has size 8 bytes"):
        array.view(wp.vec4d)
    with pytest.raises(TypeError, match="source scalar dtype float32 has size 4 bytes"):
        array.view(wp.vec4).view(wp.float64)


def test_objects_with_both_interfaces_are_read_on_the_cpu():
    class Both:
        data = np.array([1.0, 2.0, 3.0], dtype=np.float32)
        __array_interface__ = data.__array_interface__
        __cuda_array_interface__ = None

    assert list(wp.array(Both(), dtype=float, device="cpu").numpy()) == [1.0, 2.0, 3.0]


def test_a_view_keeps_what_its_array_refers_to():
    numbers = np.arange(6, dtype=np.float32)
    whole = wp.array(ptr=numbers.ctypes.data, shape=6, dtype=float, device="cpu")
    whole.owner, owner = numbers, weakref.ref(numbers)
    views = [whole[2:4], whole.reshape((2, 3))[1], whole.flatten(), whole.view(wp.int32), whole.transpose()]
    del numbers, whole
    gc.collect()
    assert views[0].list() == [2, 3] and views[1].list() == [3, 4, 5]
    while views:
        assert owner() is not None
        views.pop()
    gc.collect()
    assert owner() is None


def test_graphs_keep_what_views_were_made_of():
    def record():
        whole = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu")
        with wp.ScopedCapture(device="cpu") as capture:
            whole[1:].fill_(9.0)
        return capture.graph, weakref.ref(whole)

    graph, whole = record()
    gc.collect()
    wp.capture_launch(graph)
    assert whole().list() == [1, 9, 9]


@differs_from_warp("elements are not assigned")
def test_bools_are_assigned_from_arrays_and_lists():
    pattern = [False, True, False, False]
    a = wp.zeros(4, dtype=wp.bool, device="cpu")
    a[:] = wp.array(pattern, dtype=wp.bool, device="cpu")
    assert a.numpy().tolist() == pattern
    a[:] = [False] * 4
    assert a.numpy().tolist() == [False] * 4
    a[1:3] = True
    assert a.numpy().tolist() == [False, True, True, False]
    for value in ([0, 0], wp.zeros(2, dtype=wp.bool, device="cpu")):
        with pytest.raises(TypeError, match="bool"):
            a.fill_(value)
    a.fill_(np.bool_(True))
    a.fill_(np.zeros((), bool))
    assert a.numpy().tolist() == [False] * 4


@differs_from_warp("elements are not assigned")
def test_one_vector_of_an_array_is_copied_not_read(device):
    source = wp.array([[1.0, 2.0, 3.0]], dtype=wp.vec3, device=device)
    target = wp.zeros(1, dtype=wp.vec3, device=device)
    with wp.ScopedCapture(device=device) as capture:
        target[:] = source
    source.fill_(5.0)
    wp.capture_launch(capture.graph)
    assert target.numpy().tolist() == [[5.0, 5.0, 5.0]]


@differs_from_warp("elements are not assigned")
def test_elements_are_assigned_from_those_of_their_numbers():
    counts = wp.zeros(3, dtype=int, device="cpu")
    with pytest.raises(wp.ArgumentError, match="convert them first"):
        counts[:] = wp.array([1.5, 2.5, 3.5], dtype=float, device="cpu")
    assert counts.list() == [0, 0, 0]
    rows = wp.zeros((2, 3), dtype=float, device="cpu")
    rows[1] = wp.array([4.0, 5.0, 6.0], dtype=float, device="cpu")
    assert rows.numpy().tolist() == [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0]]


def test_arrays_without_elements_are_false():
    assert not wp.zeros(0, dtype=float, device="cpu")
    assert wp.zeros(1, dtype=float, device="cpu")
    assert wp.zeros((2, 0), dtype=float, device="cpu"), "as many rows as its length says"
