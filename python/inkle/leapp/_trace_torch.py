"""PyTorch's operations, seen through its own protocols.

`Operations` is shown every operation below autograd and autocast, those of scripted functions too, so that what is recorded
is what ran. `Functions` is shown the few functions that reach a tensor's memory without an operation.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ._recorder import overwritten_arguments, returns_alias, written_arguments
from ._trace_numpy import TracedArray, plain
from ._where import TraceError

aten = torch.ops.aten

_HOST_READS = {
    aten._local_scalar_dense.default: "the value",
    aten.equal.default: "an equality",
    aten.is_nonzero.default: "the value",
}
_BLANK = {
    aten.empty.memory_format,
    aten.empty_strided.default,
    aten.empty_like.default,
    aten.new_empty.default,
    aten.new_empty_strided.default,
}
_DATA_SHAPES = {
    aten.nonzero.default,
    aten.masked_select.default,
    aten._unique2.default,
    aten.unique_dim.default,
    aten.unique_consecutive.default,
}


class Operations(TorchDispatchMode):
    """Records the operations that use values of nodes under way."""

    def __init__(self, session):
        super().__init__()
        self.session = session

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        session = self.session
        if session.is_paused or not session.active:
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return self._seen(func, args, kwargs)

    def _seen(self, func, args, kwargs):
        session = self.session
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        recorder = session.owner(tensors, lambda: f"{func}")
        if recorder is None:
            renewed = overwritten_arguments(func, args, kwargs)
            for tensor in written_arguments(func, args, kwargs):
                session.written(tensor, any(tensor is t for t in renewed))
            result = func(*args, **kwargs)
            if not returns_alias(func):
                session.made(result, func in _BLANK)
            return result
        if func in _HOST_READS:
            session.host_read(recorder, _HOST_READS[func])
            return func(*args, **kwargs)
        if func in _DATA_SHAPES or (func is aten.index.Tensor and _has_mask(args)):
            session.data_shape(recorder, func)
        return recorder.operation(func, args, kwargs)


def _has_mask(args) -> bool:
    return any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1])


class Functions(TorchFunctionMode):
    """Keeps track of values where they leave for numpy, or come from lists."""

    def __init__(self, session):
        super().__init__()
        self.session = session

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        session = self.session
        if session.is_paused or not session.active:
            return func(*args, **kwargs)
        handler = _HANDLERS.get(func)
        return handler(session, func, args, kwargs) if handler else func(*args, **kwargs)


def _to_numpy(session, func, args, kwargs):
    array = func(*args, **kwargs)
    tensor = args[0]
    if not isinstance(array, np.ndarray) or session.owner([tensor], lambda: "numpy()") is None:
        return array
    if session.owner_of_array(array) is None:
        # A conversion that copied: the copy's value is that of the tensor.
        session.copied(tensor, array)
    return array.view(TracedArray)


def _host_value(session, func, args, kwargs):
    recorder = session.owner([args[0]], lambda: func.__name__)
    if recorder is not None:
        session.host_read(recorder, "the values")
    return func(*args, **kwargs)


def _from_data(session, func, args, kwargs):
    """`torch.tensor` and `torch.as_tensor` of arrays or of lists that have traced values in them."""
    data, rest = (args[0], args[1:]) if args else (kwargs.pop("data"), ())
    if rest:
        return func(data, *rest, **kwargs)
    traced = [t for t in tree_leaves(data) if _is_traced(session, t)]
    if not traced:
        return func(plain(data), **kwargs)
    made = _gathered(data)
    wanted = {key: kwargs[key] for key in ("dtype", "device") if kwargs.get(key) is not None}
    made = made.to(**wanted) if wanted else made
    if func is torch.tensor:
        made = made.detach().clone() if isinstance(data, (torch.Tensor, np.ndarray)) and not wanted else made.detach()
        made.requires_grad_(bool(kwargs.get("requires_grad")))
    return made


def _is_traced(session, value) -> bool:
    if isinstance(value, torch.Tensor):
        return session.owner([value], lambda: "tensor()") is not None
    return isinstance(value, np.ndarray) and session.owner_of_array(value) is not None


def _gathered(data):
    if isinstance(data, torch.Tensor):
        return data
    if isinstance(data, np.ndarray):
        return torch.from_numpy(plain(data))
    if isinstance(data, (list, tuple)):
        items = [_gathered(item) for item in data]
        widest = None
        for item in items:
            widest = item.dtype if widest is None else torch.promote_types(widest, item.dtype)
        return torch.stack([item.to(widest) for item in items])
    return torch.as_tensor(data)


def _deep_copied(session, func, args, kwargs):
    tensor = args[0]
    if session.owner([tensor], lambda: "deepcopy") is None:
        return func(*args, **kwargs)
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


_HANDLERS = {
    torch.Tensor.numpy: _to_numpy,
    torch.Tensor.__array__: _to_numpy,
    torch.Tensor.tolist: _host_value,
    torch.tensor: _from_data,
    torch.as_tensor: _from_data,
    torch.asarray: _from_data,
    torch.Tensor.__deepcopy__: _deep_copied,
}


class Modes:
    """The two modes of a session, on the stacks of the thread that started it."""

    def __init__(self, session):
        self._modes = (Functions(session), Operations(session))
        self._entered = False

    def enter(self) -> None:
        """Puts the modes on the stacks."""
        for mode in self._modes:
            mode.__enter__()
        self._entered = True

    def leave(self) -> None:
        """Takes the modes off the stacks, wherever in them they are."""
        if not self._entered:
            return
        self._entered = False
        functions, operations = self._modes
        _take_off(operations, torch.utils._python_dispatch)
        _take_off(functions, torch.overrides)


def _take_off(mode, stack) -> None:
    above = []
    while True:
        top = (
            stack._get_current_dispatch_mode()
            if stack is torch.utils._python_dispatch
            else stack._get_current_function_mode()
        )
        if top is None:
            raise TraceError("leapp.stop() must be called by the thread that called leapp.start()")
        if top is mode:
            mode.__exit__(None, None, None)
            break
        above.append(top)
        stack._pop_mode()
    for other in reversed(above):
        stack._push_mode(other)
