"""Arrays from and to PyTorch tensors, sharing memory."""

from inkle import _native


def _pairs():
    import torch

    return {
        "float64": torch.float64,
        "float32": torch.float32,
        "float16": torch.float16,
        "bfloat16": torch.bfloat16,
        "int64": torch.int64,
        "int32": torch.int32,
        "int16": torch.int16,
        "int8": torch.int8,
        "uint8": torch.uint8,
        "bool": torch.bool,
    }


def dtype_to_torch(warp_dtype):
    """The PyTorch dtype of a scalar type."""
    found = _pairs().get(_native.type_repr(warp_dtype))
    if found is None:
        raise TypeError(f"PyTorch has no dtype for {_native.type_repr(warp_dtype)}")
    return found


def dtype_from_torch(torch_dtype):
    """The scalar type of a PyTorch dtype."""
    for name, dtype in _pairs().items():
        if dtype == torch_dtype:
            return _native.named_type(name)
    raise TypeError(f"arrays cannot hold elements of {torch_dtype}")


def device_to_torch(warp_device):
    """The name PyTorch has for a device."""
    return str(_native.get_device(warp_device))


def device_from_torch(torch_device):
    """The device of a PyTorch device."""
    name = str(torch_device)
    return _native.get_device("cuda:0" if name == "cuda" else name)


def stream_from_torch(stream_or_device=None):
    """The stream of a PyTorch stream, or of the current one of a PyTorch device."""
    import torch

    if not isinstance(stream_or_device, torch.cuda.Stream):
        stream_or_device = torch.cuda.current_stream(stream_or_device)
    device = device_from_torch(stream_or_device.device)
    return _native.Stream(device, cuda_stream=stream_or_device.cuda_stream)


def stream_to_torch(stream_or_device=None):
    """The PyTorch stream of a stream, or of the current one of a device."""
    import torch

    if not isinstance(stream_or_device, _native.Stream):
        stream_or_device = _native.get_stream(stream_or_device)
    return torch.cuda.ExternalStream(stream_or_device.cuda_stream, device=device_to_torch(stream_or_device.device))


def from_torch(t, dtype=None, requires_grad=None, grad=None, return_ctype=False, retain_grad=False):
    """An array over the memory of a tensor.

    ``dtype``: a vector or matrix type takes up the last dimensions of the tensor. ``requires_grad``: ``None`` for
    what the tensor says; the tensor's gradient is shared too, and made if there is none.
    """
    if requires_grad is None:
        requires_grad = t.requires_grad
    array = _native.from_dlpack(t.detach(), dtype=dtype)
    if requires_grad or grad is not None:
        if grad is None:
            if t.grad is None:
                import torch

                t.grad = torch.zeros_like(t)
            grad = t.grad
        array.grad = grad if isinstance(grad, _native.array) else _native.from_dlpack(grad.detach(), dtype=dtype)
    return array


def to_torch(a, requires_grad=None):
    """A tensor over the memory of an array. ``requires_grad``: ``None`` for what the array says."""
    import torch

    tensor = torch.utils.dlpack.from_dlpack(a)
    if requires_grad is None:
        requires_grad = a.requires_grad
    if requires_grad:
        tensor.requires_grad_(True)
        if a.grad is not None:
            tensor.grad = torch.utils.dlpack.from_dlpack(a.grad)
    return tensor
