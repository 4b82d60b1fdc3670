"""Making arrays: from Python data, numpy, constants; types, gradients, empty and large shapes; reading back."""

import numpy as np
import pytest
from _support import FLOAT_TYPES, INT_TYPES, differs_from_warp, to_bfloat16
from _wp import wp

NUMPY_TYPES = [*INT_TYPES, "bool", "float16", "float32", "float64"]


@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_numpy_round_trip(device, name):
    data = np.array([[0, 1, 2], [3, 100, 1]]).astype(name)
    a = wp.array(data, device=device)
    assert a.dtype is getattr(wp, name) and a.shape == (2, 3) and a.ndim == 2 and a.size == 6 and len(a) == 2
    assert a.strides == data.strides and a.is_contiguous and str(a.device) == device
    back = a.numpy()
    assert back.dtype == data.dtype
    np.testing.assert_array_equal(back, data)


def test_type_inference_follows_numpy(device):
    for data, dtype in (
        ([1, 2], wp.int64), ([1.0, 2.0], wp.float64), ([True, False], wp.bool), ([1, 2.5], wp.float64), (np.zeros(2, np.int8), wp.int8), ([], wp.float64),
    ):  # fmt: skip
        assert wp.array(data, device=device).dtype is dtype, data


def test_data_is_converted_to_the_requested_type(device):
    assert wp.array([1.75, -2.25], dtype=int, device=device).numpy().tolist() == [1, -2]
    assert wp.array([1, 2], dtype=float, device=device).numpy().dtype == np.float32
    assert wp.array(np.arange(3), dtype=wp.uint8, device=device).numpy().dtype == np.uint8
    assert wp.array((1, 0, 3), dtype=wp.bool, device=device).numpy().tolist() == [True, False, True]


def test_vector_and_matrix_types_take_the_inner_dimensions(device):
    data = np.arange(12.0).reshape(2, 2, 3)
    v = wp.array(data, dtype=wp.vec3, device=device)
    assert v.shape == (2, 2) and v.ndim == 2
    np.testing.assert_array_equal(v.numpy(), data)
    m = wp.array(np.arange(8.0).reshape(2, 2, 2), dtype=wp.mat22, device=device)
    assert m.shape == (2,)
    assert wp.array(
        [wp.vec3(1, 2, 3), (4, 5, 6), np.array([7, 8, 9])], dtype=wp.vec3, device=device
    ).numpy().tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    q = wp.array([[0, 0, 0, 1]], dtype=wp.quat, device=device)
    t = wp.array([wp.transform((1, 2, 3), (0, 0, 0, 1))], dtype=wp.transform, device=device)
    assert q.numpy().tolist() == [[0, 0, 0, 1]] and t.numpy().tolist() == [[1, 2, 3, 0, 0, 0, 1]]
    assert wp.array([], dtype=wp.vec3, device=device).shape == (0,)


BAD_DATA = [3.0, [[1], [2, 3]], np.zeros((1, 1, 1, 1, 1)), np.zeros(2, dtype=complex), ["text"], [None], object()]


@pytest.mark.parametrize("data", BAD_DATA, ids=lambda d: type(d).__name__)
def test_refused_data(data):
    with pytest.raises(Exception):  # noqa: B017
        wp.array(data, device="cpu")


def test_refused_shapes_and_types():
    with pytest.raises(RuntimeError, match="vec3"):
        wp.array(np.zeros((2, 4)), dtype=wp.vec3, device="cpu")
    with pytest.raises(ValueError):
        wp.zeros(-1, dtype=float, device="cpu")
    for bad in (list, np.complex64, "nonsense", 3):
        with pytest.raises(Exception):  # noqa: B017
            wp.zeros(2, dtype=bad, device="cpu")
    with pytest.raises(Exception):  # noqa: B017
        wp.zeros((1, 1, 1, 1, 1), dtype=float, device="cpu")


CONSTANTS = [float, int, bool, wp.float16, wp.float64, wp.int8, wp.uint16, wp.uint64, wp.vec3, wp.mat22, wp.quat]


@pytest.mark.parametrize("dtype", CONSTANTS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [5, (2, 3), (2, 1, 3), (1, 2, 1, 2)])
def test_zeros_ones_full(device, dtype, shape):
    dims = (shape,) if isinstance(shape, int) else shape
    zeros, ones, full = (
        wp.zeros(shape, dtype=dtype, device=device),
        wp.ones(shape, dtype=dtype, device=device),
        wp.full(shape, 1, dtype=dtype, device=device),
    )
    assert zeros.shape == ones.shape == full.shape == dims
    assert not zeros.numpy().any() and (ones.numpy() == 1).all() and (full.numpy() == 1).all()
    assert wp.empty(shape, dtype=dtype, device=device).shape == dims


def test_full_takes_its_type_from_the_value(device):
    assert wp.full(2, 7, device=device).dtype is wp.int32
    assert wp.full(2, 7.5, device=device).dtype is wp.float32
    assert wp.full(2, wp.vec3(1, 2, 3), device=device).numpy().tolist() == [[1, 2, 3]] * 2
    assert wp.full(2, (1, 2, 3), dtype=wp.vec3, device=device).numpy().tolist() == [[1, 2, 3]] * 2
    assert wp.full((2, 2), -4, dtype=wp.int8, device=device).numpy().tolist() == [[-4, -4]] * 2
    assert wp.zeros(2, device=device).dtype is wp.float32


def test_like(device):
    a = wp.array(np.arange(6.0).reshape(2, 3), dtype=wp.float64, device=device)
    for made, value in ((wp.zeros_like(a), 0.0), (wp.ones_like(a), 1.0), (wp.full_like(a, 2.5), 2.5)):
        assert (
            made.shape == a.shape
            and made.dtype is a.dtype
            and made.device == a.device
            and (made.numpy() == value).all()
        )
    assert wp.empty_like(a).shape == (2, 3)
    column = wp.zeros_like(a[:, 1])
    assert column.shape == (2,) and column.is_contiguous
    assert wp.zeros_like(wp.zeros(3, dtype=float, device=device, requires_grad=True)).requires_grad


def test_empty_arrays(device):
    for shape in (0, (0,), (2, 0, 3), (0, 4)):
        a = wp.zeros(shape, dtype=float, device=device)
        assert a.size == 0 and a.numpy().size == 0 and a.numpy().shape == a.shape
        a.fill_(3.0)
        a.zero_()
        assert wp.clone(a).shape == a.shape
        wp.copy(a, wp.zeros(shape, dtype=float, device=device))
    assert wp.array(np.zeros((0, 3)), dtype=wp.vec3, device=device).shape == (0,)
    assert wp.array([], dtype=int, device=device).numpy().dtype == np.int32


def test_gradients_are_allocated_on_request(device):
    a = wp.zeros((2, 3), dtype=float, device=device, requires_grad=True)
    assert a.requires_grad and a.grad.shape == (2, 3) and a.grad.dtype is wp.float32 and not a.grad.numpy().any()
    b = wp.zeros(3, dtype=float, device=device)
    assert not b.requires_grad and b.grad is None
    b.requires_grad = True
    assert b.grad.shape == (3,)
    b.grad.fill_(2.0)
    assert b.grad.numpy().tolist() == [2.0] * 3
    c = wp.array([1.0, 2.0], dtype=float, device=device, requires_grad=True)
    assert c.grad is not None and wp.clone(c).requires_grad
    assert not wp.clone(c, requires_grad=False).requires_grad
    view = a[1]
    assert view.requires_grad and view.grad.shape == (3,)
    view.grad.fill_(1.0)
    assert a.grad.numpy().tolist() == [[0.0] * 3, [1.0] * 3]


def test_bfloat16_arrays(device):
    values = [1.5, -2.0, 0.1, 3.0e38]
    a = wp.array(values, dtype=wp.bfloat16, device=device)
    bits = a.numpy()
    if bits.dtype == np.uint16:  # numpy has no bfloat16 of its own
        np.testing.assert_array_equal((bits.astype(np.uint32) << 16).view(np.float32), to_bfloat16(values))
    else:
        np.testing.assert_array_equal(bits.astype(np.float32), to_bfloat16(values))


def test_copy_false_shares_memory_with_numpy():
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    shared = wp.array(data, copy=False, device="cpu")
    data[0, 0] = 50.0
    assert shared.numpy()[0, 0] == 50.0
    shared.fill_(2.0)
    assert (data == 2.0).all()
    strided = wp.array(data[:, ::2], copy=False, device="cpu")
    assert strided.strides == (12, 8) and not strided.is_contiguous
    own = wp.array(data, device="cpu")
    data[0, 0] = 7.0
    assert own.numpy()[0, 0] == 2.0


def test_shared_memory_outlives_its_first_owner():
    shared = wp.array(np.full(1000, 3.0, dtype=np.float32), copy=False, device="cpu")
    for _ in range(20):
        np.full(1000, -1.0, dtype=np.float32)
    assert (shared.numpy() == 3.0).all()
    view = wp.full(1000, 4.0, dtype=float, device="cpu").numpy()
    for _ in range(20):
        wp.full(1000, -1.0, dtype=float, device="cpu")
    assert (view == 4.0).all()


def test_wrapping_a_pointer(device):
    owner = wp.array([1.0, 2.0, 3.0, 4.0], dtype=float, device=device)
    alias = wp.array(ptr=owner.ptr, shape=(2, 2), dtype=float, device=device)
    alias.fill_(9.0)
    assert owner.numpy().tolist() == [9.0] * 4


def test_text_forms(device):
    a = wp.array([[1.0, 2.0], [3.0, 4.0]], dtype=float, device=device)
    assert "2, 2" in repr(a) and "float32" in repr(a)
    assert str(a) == str(a.numpy())
    assert a.list() == [1.0, 2.0, 3.0, 4.0]
    assert wp.array([[1, 2, 3]], dtype=wp.vec3, device=device).list() == [wp.vec3(1, 2, 3)]


def test_array_annotations():
    assert wp.array1d(dtype=float).ndim == 1 and wp.array2d(dtype=float).ndim == 2
    assert wp.array3d(dtype=float).ndim == 3 and wp.array4d(dtype=float).ndim == 4
    assert wp.array(dtype=int, ndim=3).dtype is wp.int32


def test_scalar_type_facts():
    sizes = {
        "int8": 1,
        "uint16": 2,
        "int32": 4,
        "uint64": 8,
        "float16": 2,
        "bfloat16": 2,
        "float32": 4,
        "float64": 8,
        "bool": 1,
    }
    for name, size in sizes.items():
        assert wp.types.type_size_in_bytes(getattr(wp, name)) == size
    assert wp.types.type_size_in_bytes(wp.vec3) == 12 and wp.types.type_size_in_bytes(wp.mat44d) == 128
    for name in NUMPY_TYPES:
        assert wp.dtype_from_numpy(np.dtype(name)) is getattr(wp, name)
        assert np.dtype(wp.dtype_to_numpy(getattr(wp, name))) == np.dtype(name)


@differs_from_warp("a mistake in the number of values is accepted silently")
def test_assign_of_another_size_is_refused(device):
    a = wp.zeros((2, 3), dtype=float, device=device)
    for bad in (np.arange(5), np.arange(7)):
        with pytest.raises(Exception):  # noqa: B017
            a.assign(bad)
    assert not a.numpy().any()


def test_floats_survive_bit_for_bit(device):
    for name in FLOAT_TYPES:
        if name == "bfloat16":
            continue
        bits = np.array([0, 1, -1, 12345, 2**14, -(2**14)]).astype(f"int{8 * np.dtype(name).itemsize}")
        data = bits.view(name)
        np.testing.assert_array_equal(wp.array(data, device=device).numpy().view(bits.dtype), bits)


def test_new_memory_with_strides(device):
    a = wp.zeros((2, 3), dtype=wp.float32, strides=(16, 4), device=device)
    assert a.strides == (16, 4) and a.capacity == 28 and not a.is_contiguous
    a.fill_(2.0)
    np.testing.assert_array_equal(a.numpy(), np.full((2, 3), 2.0))
    columns = wp.empty((3, 2), dtype=wp.float32, strides=(4, 12), device=device)
    assert columns.capacity == wp.empty((2, 3), dtype=wp.float32, device=device).capacity
    empty = wp.empty((0, 3), dtype=wp.int32, strides=(4, 16), device=device)
    assert empty.capacity == 0 and empty.ptr is None
    for bad, problem in (((4,), "2 strides"), ((16, -4), "negative strides"), ((16, 2), "alignment")):
        with pytest.raises(ValueError, match=problem):
            wp.empty((2, 3), dtype=wp.float32, strides=bad, device=device)


def test_an_empty_array_in_numpy(device):
    a = wp.zeros((1, 0), dtype=wp.vec2f, device=device)
    assert a.strides == (0, 8)
    assert a.numpy().shape == (1, 0, 2)


def test_ml_dtypes_gives_numpy_bfloat16(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([1.0, -2.5, 0.001], dtype=ml_dtypes.bfloat16)
    a = wp.array(values, device=device)
    assert a.dtype is wp.bfloat16 and wp.dtype_from_numpy(values.dtype) is wp.bfloat16
    back = a.numpy()
    assert back.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(back.view(np.uint16), values.view(np.uint16))
    np.testing.assert_array_equal(wp.array(values, dtype=float, device=device).numpy(), values.astype(np.float32))
    assert wp.zeros(0, dtype=wp.bfloat16, device=device).numpy().dtype == ml_dtypes.bfloat16
