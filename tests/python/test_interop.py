"""Sharing memory with numpy, DLPack producers and consumers, and PyTorch."""

import ctypes

import numpy as np
import pytest
from _support import differs_from_warp
from _wp import wp

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


@wp.kernel
def add_one(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + 1.0


def test_array_interface(device):
    a = wp.zeros((2, 3), dtype=float, device="cpu")
    described = a.__array_interface__
    assert (
        described["shape"] == (2, 3)
        and described["typestr"] == "<f4"
        and described["version"] == 3
        and described["data"][0] == a.ptr
    )
    seen = np.asarray(a)
    wp.launch(add_one, dim=6, inputs=[a.flatten()], device="cpu")
    assert (seen == 1.0).all()
    strided = np.asarray(a[:, ::2])
    assert strided.shape == (2, 2) and strided.strides == (12, 8)
    v = np.asarray(wp.zeros(4, dtype=wp.vec3, device="cpu"))
    assert v.shape == (4, 3) and v.dtype == np.float32


class Exporter:
    """An object that is no numpy array but speaks the array interface."""

    def __init__(self, data):
        self._data = data

    @property
    def __array_interface__(self):
        return self._data.__array_interface__


def test_objects_with_an_array_interface():
    data = np.arange(6, dtype=np.float32)
    wp.launch(add_one, dim=6, inputs=[Exporter(data)], device="cpu")
    assert data.tolist() == [1, 2, 3, 4, 5, 6]


@differs_from_warp("wp.array takes only numpy arrays and sequences")
def test_arrays_from_foreign_objects(device):
    data = np.arange(6, dtype=np.float32)
    a = wp.array(Exporter(data), device=device)
    assert a.dtype is wp.float32 and a.numpy().tolist() == data.tolist()
    assert wp.array(Exporter(data), dtype=wp.int32, device=device).numpy().tolist() == data.tolist()

    class Producer:
        def __dlpack__(self, **options):
            return data.__dlpack__(**options)

        def __dlpack_device__(self):
            return data.__dlpack_device__()

    assert wp.array(Producer(), device=device).numpy().tolist() == data.tolist()
    assert wp.from_dlpack(Producer()).ptr == data.ctypes.data


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool"],
)
def test_dlpack_with_numpy(dtype):
    data = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    a = wp.from_dlpack(data)
    assert a.dtype is getattr(wp, dtype) and a.shape == (2, 3) and a.ptr == data.ctypes.data
    np.testing.assert_array_equal(a.numpy(), data)
    back = np.from_dlpack(a)
    assert back.ctypes.data == data.ctypes.data
    np.testing.assert_array_equal(back, data)


def test_dlpack_elements_read_as_integers_of_their_size():
    source = np.array([[-1, 2], [3, -4]], dtype=np.int64)
    seen = wp.from_dlpack(source, dtype=wp.uint64)
    source[0, 1] = -5
    np.testing.assert_array_equal(seen.numpy(), source.view(np.uint64))
    vectors = wp.from_dlpack(np.array([[1, -1]], dtype=np.int32), dtype=wp.vec2ui)
    assert vectors.numpy().tolist() == [[1, 2**32 - 1]]
    assert wp.from_dlpack(np.array([True, False]), dtype=wp.uint8).numpy().tolist() == [1, 0]
    for source, dtype in (
        (np.zeros(2, dtype=np.int32), wp.int64),
        (np.zeros(2, dtype=np.int32), wp.float32),
        (np.zeros(2, dtype=np.float32), wp.int32),
        (np.zeros(2, dtype=np.uint8), wp.bool),
    ):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            wp.from_dlpack(source, dtype=dtype)


def test_dlpack_strides_vectors_and_lifetime():
    data = np.arange(24, dtype=np.float32).reshape(4, 6)
    view = wp.from_dlpack(data[::2, 1:4])
    assert view.strides == (48, 4)
    np.testing.assert_array_equal(view.numpy(), data[::2, 1:4])
    exported = np.from_dlpack(wp.full(1000, 3.0, dtype=float, device="cpu"))
    for _ in range(20):
        wp.full(1000, -1.0, dtype=float, device="cpu")
    assert (exported == 3.0).all()
    assert np.from_dlpack(wp.zeros(4, dtype=wp.vec3, device="cpu")).shape == (4, 3)
    assert np.from_dlpack(wp.array(data, device="cpu").transpose()).strides == (4, 24)


def test_dlpack_capsule(device):
    a = wp.array([1.0, 2.0, 3.0], dtype=float, device=device)
    capsule = wp.to_dlpack(a)
    assert "dltensor" in repr(capsule)
    b = wp.from_dlpack(capsule)
    assert b.ptr == a.ptr and b.device == a.device and b.shape == (3,)
    wp.launch(add_one, dim=3, inputs=[b], device=device)
    assert a.numpy().tolist() == [2.0, 3.0, 4.0]
    kind, index = a.__dlpack_device__()
    assert (int(kind), index) == ((1, 0) if device == "cpu" else (2, 0)) or device == "cpu" and int(kind) == 1


def test_unused_dlpack_capsules_are_released():
    a = wp.zeros(10, dtype=float, device="cpu")
    for _ in range(100):
        wp.to_dlpack(a)
    ctypes.pythonapi.PyGC_Collect()
    assert a.numpy().tolist() == [0.0] * 10


def test_from_numpy(device):
    data = np.arange(6.0).reshape(2, 3)
    # Without a dtype, inner dimensions become vectors and matrices.
    assert wp.from_numpy(data, device=device).numpy().shape == (2, 3) and wp.from_numpy(data, device=device).shape == (
        2,
    )
    assert wp.from_numpy(data[0], device=device).dtype is wp.float64
    assert wp.from_numpy(np.zeros((5, 2, 2)), device=device).shape == (5,)
    v = wp.from_numpy(data, dtype=wp.vec3, device=device)
    assert v.shape == (2,) and v.numpy().tolist() == data.tolist()
    assert wp.from_numpy(data, dtype=wp.float32, device=device).numpy().dtype == np.float32
    assert wp.from_numpy(data, dtype=float, shape=(6,), device=device).shape == (6,)
    assert wp.from_numpy(data.astype(np.float32), device=device, requires_grad=True).requires_grad


def test_cuda_array_interface(cuda_device):
    a = wp.array([1.0, 2.0, 3.0], dtype=float, device=cuda_device)
    described = a.__cuda_array_interface__
    assert (
        described["shape"] == (3,)
        and described["typestr"] == "<f4"
        and described["data"][0] == a.ptr
        and described["version"] >= 2
    )

    class Foreign:
        __cuda_array_interface__ = described

    wp.launch(add_one, dim=3, inputs=[Foreign()], device=cuda_device)
    assert a.numpy().tolist() == [2.0, 3.0, 4.0]


def torch_name(device):
    return "cuda:0" if device.startswith("cuda") else "cpu"


@needs_torch
def test_from_torch(device):
    t = torch.arange(6, dtype=torch.float32, device=torch_name(device)).reshape(2, 3)
    a = wp.from_torch(t)
    assert a.ptr == t.data_ptr() and a.shape == (2, 3) and a.dtype is wp.float32 and str(a.device) == device
    a.fill_(5.0)
    wp.synchronize_device(device)
    assert bool((t == 5.0).all())
    v = wp.from_torch(t, dtype=wp.vec3)
    assert v.shape == (2,) and v.dtype is wp.vec3
    columns = wp.from_torch(t[:, ::2])
    assert columns.strides == (12, 8)


@needs_torch
def test_to_torch(device):
    a = wp.array([[1.0, 2.0], [3.0, 4.0]], dtype=float, device=device)
    t = wp.to_torch(a)
    assert t.data_ptr() == a.ptr and t.shape == (2, 2) and t.dtype == torch.float32
    t += 1.0
    assert a.numpy().tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert wp.to_torch(wp.zeros(3, dtype=wp.mat22, device=device)).shape == (3, 2, 2)


@needs_torch
def test_torch_gradients_are_shared(device):
    t = torch.ones(3, device=torch_name(device), requires_grad=True)
    a = wp.from_torch(t)
    assert a.requires_grad and a.grad is not None
    a.grad.fill_(2.0)
    wp.synchronize_device(device)
    assert t.grad is not None and t.grad.tolist() == [2.0] * 3
    b = wp.zeros(3, dtype=float, device=device, requires_grad=True)
    u = wp.to_torch(b)
    assert u.requires_grad and u.grad.data_ptr() == b.grad.ptr


class OnlyDLPack:
    """What a library that speaks DLPack and nothing else gives."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_producers_as_kernel_arguments():
    a = np.ones(4, dtype=np.float32)
    wp.launch(add_one, dim=4, inputs=[OnlyDLPack(a)], device="cpu")
    assert a.tolist() == [2.0] * 4
    for wrong in (np.ones(4, dtype=np.int32), np.ones((2, 2), dtype=np.float32)):
        with pytest.raises(
            wp.ArgumentError, match=r"of type array\(dtype=float32, ndim=1\), the passed value has type array"
        ):
            wp.launch(add_one, dim=4, inputs=[OnlyDLPack(wrong)], device="cpu")


@needs_torch
def test_torch_tensors_as_kernel_arguments(device):
    t = torch.ones(4, dtype=torch.float32, device=torch_name(device))
    wp.launch(add_one, dim=4, inputs=[t], device=device)
    wp.synchronize_device(device)
    assert t.tolist() == [2.0] * 4
    with pytest.raises(Exception, match="float"):
        wp.launch(add_one, dim=4, inputs=[t.to(torch.int32)], device=device)


@needs_torch
def test_device_names_translate():
    assert wp.device_to_torch("cpu") == "cpu" and str(wp.device_from_torch("cpu")) == "cpu"
    assert wp.dtype_to_torch(wp.float32) is torch.float32 and wp.dtype_from_torch(torch.int64) is wp.int64


def test_numpy_reads_arrays_of_the_cpu_without_being_asked(device):
    a = wp.array([1.0, 2.0], dtype=float, device=device)
    if device == "cpu":
        assert np.asarray(a, dtype=np.float64).tolist() == [1.0, 2.0]
        assert np.shares_memory(np.asarray(a), a.numpy())
        copied = np.array(a, copy=True)
        assert not np.shares_memory(copied, a.numpy()) and copied.tolist() == [1.0, 2.0]
        return
    for options in ({}, {"dtype": np.float64}):
        with pytest.raises(TypeError, match=r"implicit NumPy conversion .* this one is on cuda:0; .*`array.numpy\(\)`"):
            np.asarray(a, **options)


def test_an_object_that_names_one_address_twice_is_read_on_the_host(device):
    class Both:
        def __init__(self, data):
            self.data = data
            self.__array_interface__ = self.__cuda_array_interface__ = data.__array_interface__

    data = np.arange(6, dtype=np.float32)
    for dtype in (wp.float32, wp.vec3):
        a = wp.array(Both(data), dtype=dtype, device=device)
        assert a.device == device and a.numpy().ravel().tolist() == data.tolist()
