"""numpy on arrays with values of nodes.

Such an array is a `TracedArray`, a view of the memory whose values are known. numpy's functions on it are worked out by
numpy; the same function of PyTorch's version of numpy's API is run beside it, so that its operations are recorded, and has
to come to the same result.
"""

from __future__ import annotations

import functools

import numpy as np
import torch

from ._where import TraceError

_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
#: Functions whose result is no value of the program, or is known without the values.
_ABOUT = {
    "array_repr", "array_str", "array2string", "shape", "ndim", "size", "may_share_memory", "shares_memory", "result_type",
    "can_cast", "iscomplexobj", "isrealobj", "common_type", "save", "savez", "savetxt", "min_scalar_type",
}  # fmt: skip
_VIEWS = {
    "reshape", "ravel", "transpose", "swapaxes", "squeeze", "expand_dims", "broadcast_to", "moveaxis", "atleast_1d",
    "atleast_2d", "atleast_3d", "split", "array_split", "hsplit", "vsplit", "flip", "diagonal", "real", "broadcast_arrays",
    "rollaxis", "fliplr", "flipud", "rot90",
}  # fmt: skip
_COMPARED = {"array_equal", "allclose", "array_equiv"}

_session = None


def plain(value):
    """The value with arrays that are only numpy's."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(plain(v) for v in value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    elif isinstance(value, np.ndarray):
        yield value


class TracedArray(np.ndarray):
    """An array in memory with values of a node."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        run = getattr(ufunc, method)
        targets = out if isinstance(out, tuple) else (out,) if out is not None else ()
        if out is not None:
            kwargs["out"] = plain(tuple(targets))
        call = lambda: run(*plain(inputs), **plain(kwargs))  # noqa: E731
        name = ufunc.__name__
        if method == "reduce":
            name = _REDUCTIONS.get(name)
        elif method == "accumulate":
            name = _RUNNING.get(name)
        elif method == "at":
            name = None
        elif method != "__call__":
            name = name if method == "outer" else None
        if name is None:
            return _unknown(f"{ufunc.__name__}.{method}", inputs, call)
        rest = {k: v for k, v in kwargs.items() if k not in ("out", "order", "subok") and v is not np._NoValue}
        if method in ("reduce", "accumulate"):
            rest.setdefault("axis", 0)
            if rest.get("dtype", 0) is None:
                del rest["dtype"]
            if rest.get("where") is True:
                del rest["where"]
            if rest.get("initial", 0) is None:
                del rest["initial"]
        result = _traced(name, inputs, rest, call, outer=method == "outer")
        if not targets:
            return result
        made = result if isinstance(result, tuple) else (result,)
        for target, value in zip(targets, made, strict=True):
            _overwritten(target, value)
        return targets if len(targets) > 1 else targets[0]

    def __array_function__(self, func, types, args, kwargs):
        name = func.__name__
        call = lambda: func(*plain(args), **plain(kwargs))  # noqa: E731
        if name in _ABOUT:
            return call()
        if name == "copyto":
            args[0][...] = args[1]
            return None
        if name in _COMPARED:
            _read(args)
            return call()
        if name in _VIEWS:
            result = call()
            wrap = lambda v: _wrapped(v) if _is_known(v) else v  # noqa: E731
            seen = [wrap(v) for v in result] if isinstance(result, (list, tuple)) else wrap(result)
            if all(isinstance(v, TracedArray) for v in (seen if isinstance(seen, list) else [seen])):
                return seen
        out = kwargs.pop("out", None)
        if out is not None:
            call = lambda: func(*plain(args), **plain(kwargs), out=plain(out))  # noqa: E731
        module = func.__module__.rpartition(".")[2] if func.__module__ not in ("numpy", None) else ""
        result = _traced(f"{module}.{name}" if module in ("linalg", "fft") else name, args, kwargs, call)
        if out is not None:
            _overwritten(out, result)
            return out
        return result

    def _method(self, name, *args, **kwargs):
        call = lambda: getattr(plain(self), name)(*plain(args), **plain(kwargs))  # noqa: E731
        return _traced(name, (self, *args), kwargs, call)

    def __getitem__(self, index):
        result = plain(self)[plain(index)]
        if isinstance(result, np.ndarray) and np.may_share_memory(result, plain(self)):
            return result.view(TracedArray)
        if not _is_known(self) and not any(_is_known(a) for a in _leaves(index)):
            return result
        return _traced("getitem", (self, index), {}, lambda: result)

    def __setitem__(self, index, value):
        known = any(_is_known(a) for a in [self, *_leaves(index), *_leaves(value)])
        if not known:
            plain(self)[plain(index)] = plain(value)
            return
        target, place = _writable(self), _as_torch(index)
        source = _as_torch(value)
        source = source if isinstance(source, torch.Tensor) else torch.as_tensor(source)
        target[place] = source.to(target.dtype)
        with _session.pause():
            plain(self)[plain(index)] = plain(value)

    def copy(self, order="C"):
        return self._method("copy")

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        call = lambda: plain(self).astype(dtype, order, casting, subok, copy)  # noqa: E731
        return _traced("astype", (self, np.dtype(dtype)), {}, call)

    def flatten(self, order="C"):
        return self._method("flatten")

    def cumsum(self, axis=None, dtype=None, out=None):
        return np.cumsum(self, axis, dtype, out)

    def cumprod(self, axis=None, dtype=None, out=None):
        return np.cumprod(self, axis, dtype, out)

    def dot(self, other, out=None):
        return np.dot(self, other, out)

    def clip(self, min=None, max=None, out=None, **kwargs):
        return np.clip(self, min, max, out, **kwargs)

    def argmax(self, axis=None, out=None, **kwargs):
        return np.argmax(self, axis, out, **kwargs)

    def argmin(self, axis=None, out=None, **kwargs):
        return np.argmin(self, axis, out, **kwargs)

    def argsort(self, axis=-1, kind=None, order=None, **kwargs):
        return np.argsort(self, axis)

    def round(self, decimals=0, out=None):
        return np.round(self, decimals, out)

    def repeat(self, repeats, axis=None):
        return np.repeat(self, repeats, axis)

    def take(self, indices, axis=None, out=None, mode="raise"):
        return np.take(self, indices, axis, out)

    def trace(self, *args, **kwargs):
        return np.trace(self, *args, **kwargs)

    def sort(self, axis=-1, kind=None, order=None):
        self[...] = np.sort(self, axis)

    def fill(self, value):
        self[...] = value

    def mean(self, axis=None, dtype=None, out=None, **kwargs):
        return np.mean(self, axis, dtype, out, **kwargs)

    def std(self, axis=None, dtype=None, out=None, ddof=0, **kwargs):
        return np.std(self, axis, dtype, out, ddof, **kwargs)

    def var(self, axis=None, dtype=None, out=None, ddof=0, **kwargs):
        return np.var(self, axis, dtype, out, ddof, **kwargs)

    def item(self, *args):
        _read(self)
        return plain(self).item(*args)

    def tolist(self):
        _read(self)
        return plain(self).tolist()

    def tobytes(self, order="C"):
        _read(self)
        return plain(self).tobytes(order)

    def __bool__(self):
        _read(self)
        return bool(plain(self))

    def __int__(self):
        _read(self)
        return int(plain(self))

    def __float__(self):
        _read(self)
        return float(plain(self))

    def __index__(self):
        _read(self)
        return plain(self).__index__()

    def __complex__(self):
        _read(self)
        return complex(plain(self))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __reduce__(self):
        return plain(self).__reduce__()

    def __deepcopy__(self, memo):
        return self.copy()


def _is_known(array) -> bool:
    return _session is not None and isinstance(array, np.ndarray) and _session.owner_of_array(plain(array)) is not None


def _read(value) -> None:
    for array in _leaves(value):
        recorder = _session.owner_of_array(plain(array)) if _session is not None else None
        if recorder is not None:
            _session.host_read(recorder, "the values of a numpy array")
            return


def _writable(array: np.ndarray) -> torch.Tensor:
    if any(stride < 0 for stride in array.strides):
        raise TraceError("values cannot be traced into a reversed numpy array; write to the array that it is a view of")
    return _tensor(array)


def _wrapped(array):
    return array.view(TracedArray) if isinstance(array, np.ndarray) else array


def _tensor(array: np.ndarray) -> torch.Tensor:
    base = plain(array)
    if any(s < 0 for s in base.strides):
        # PyTorch has no negative strides: the array is a copy there.
        forward = base[tuple(slice(None, None, -1) if s < 0 else slice(None) for s in base.strides)]
        return torch.from_numpy(forward).flip([d for d, s in enumerate(base.strides) if s < 0])
    if not base.flags.writeable:
        base = base.copy() if not _is_known(base) else base
    return torch.from_numpy(base)


def _as_torch(value):
    if isinstance(value, np.ndarray):
        return _tensor(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple(_as_torch(v) for v in value)
    if isinstance(value, list):
        return [_as_torch(v) for v in value]
    if isinstance(value, slice):
        return value
    return value


def _unknown(name, inputs, call):
    if any(_is_known(a) for a in _leaves(inputs)):
        raise TraceError(
            f"numpy's {name} cannot be traced; use PyTorch there, or make what it gets no value of the node by "
            "converting it to a list first"
        )
    return call()


def _overwritten(target, value) -> None:
    """Records that an array was given the values of another, which it has already."""
    if _is_known(value) or _is_known(target):
        _writable(target).copy_(_tensor(value) if isinstance(value, np.ndarray) else torch.as_tensor(value))


def _equivalent(name: str):
    import torch._numpy as tnp

    if name == "getitem":
        return lambda a, index: a[index]
    if name == "astype":
        return lambda a, dtype: a.astype(dtype.name)
    if name in ("copy", "flatten"):
        return lambda a, **_: getattr(a, name)()
    found = tnp
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _as_tnp(value):
    import torch._numpy as tnp

    if isinstance(value, np.ndarray):
        return tnp.ndarray(_tensor(value))
    if isinstance(value, np.generic):
        return tnp.ndarray(torch.as_tensor(value))
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, type) and issubclass(value, np.generic):
        return getattr(tnp, value.__name__)
    if isinstance(value, tuple):
        return tuple(_as_tnp(v) for v in value)
    if isinstance(value, list):
        return [_as_tnp(v) for v in value]
    if isinstance(value, dict):
        return {k: _as_tnp(v) for k, v in value.items()}
    return value


def _traced(name, args, kwargs, call, outer=False):
    """What `call` gives, with the operations that make it recorded."""
    if not any(_is_known(a) for a in _leaves((list(args), kwargs))):
        return call()
    function = _equivalent(name)
    if function is None:
        return _unknown(name, (list(args), kwargs), call)
    if outer:
        function = functools.partial(_outer, function)
    try:
        made = function(*_as_tnp(tuple(args)), **_as_tnp(kwargs))
    except (NotImplementedError, TypeError, AttributeError, ValueError, RuntimeError, IndexError) as error:
        if isinstance(error, TraceError):
            raise
        # Where numpy fails too, its error is the program's.
        call()
        raise TraceError(f"numpy's {name} cannot be traced with these arguments: {error}; use PyTorch there") from error
    # After the other: it may write to its arguments.
    return _same(name, call(), made)


def _outer(function, a, b):
    return function(a.reshape(*a.shape, *[1] * b.ndim), b)


def _same(name, result, made):
    if isinstance(result, (tuple, list)):
        return (
            type(result)(_same(name, r, m) for r, m in zip(result, made, strict=True))
            if type(result) in (tuple, list)
            else tuple(_same(name, r, m) for r, m in zip(result, made, strict=True))
        )
    tensor = made.tensor if hasattr(made, "tensor") else torch.as_tensor(made)
    wanted = torch.from_numpy(np.array(result))
    if tensor.dtype != wanted.dtype:
        tensor = tensor.to(wanted.dtype)
    if tuple(tensor.shape) != tuple(wanted.shape) or not _close(tensor, wanted):
        raise TraceError(
            f"numpy's {name} cannot be traced with these arguments: PyTorch's counterpart gives another result; use PyTorch "
            "there"
        )
    if not tensor.is_contiguous() or tensor._is_view():
        tensor = tensor.clone(memory_format=torch.contiguous_format)
    with _session.pause():
        array = tensor.numpy()
        # The program goes on with numpy's own values.
        array[...] = result
    return array.view(TracedArray)


def _close(tensor: torch.Tensor, wanted: torch.Tensor) -> bool:
    with _session.pause():
        if not (wanted.is_floating_point() or wanted.is_complex()):
            return bool(torch.equal(tensor, wanted))
        eps = torch.finfo(wanted.dtype).eps
        return bool(torch.allclose(tensor, wanted, rtol=1e3 * eps, atol=1e3 * eps, equal_nan=True))


_CONVERSIONS = ("array", "asarray", "ascontiguousarray")
_MAKERS = (
    "zeros",
    "ones",
    "empty",
    "full",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "arange",
    "linspace",
    "eye",
)


def install(session) -> None:
    """Lets numpy's constructors keep track of values, until `uninstall`.

    What they make while a node runs is a `TracedArray` too, so that values written into it are seen.
    """
    global _session
    _session = session
    _originals.update({name: getattr(np, name) for name in (*_CONVERSIONS, *_MAKERS)})
    for name in _CONVERSIONS:
        setattr(np, name, _converter(name))
    for name in _MAKERS:
        setattr(np, name, _maker(name))


def uninstall() -> None:
    """Puts numpy's constructors back."""
    global _session
    _session = None
    for name, original in _originals.items():
        setattr(np, name, original)
    _originals.clear()


_originals: dict = {}


def _maker(name):
    original = _originals[name]

    @functools.wraps(original)
    def make(*args, **kwargs):
        made = original(*args, **kwargs)
        session = _session
        watched = session is not None and not session.is_paused and session.active
        if not watched or made.dtype.kind not in "biufc":
            return made
        session.made_array(made)
        return _wrapped(made)

    return make


def _converter(name):
    original = _originals[name]

    @functools.wraps(original)
    def make(*args, **kwargs):
        session = _session
        if session is None or session.is_paused or not session.active or not args:
            return original(*args, **kwargs)
        data = args[0]
        if isinstance(data, torch.Tensor) and session.owner([data], lambda: name) is not None:
            data = data.detach().numpy()
        elif isinstance(data, (list, tuple)) and any(_is_known(a) for a in _leaves(data)):
            data = np.stack(list(data))
        elif not _is_known(data):
            return original(*args, **kwargs)
        array = _wrapped(data)
        dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        copies = name == "array" and kwargs.get("copy", True)
        return array.copy() if copies or name == "ascontiguousarray" and not array.flags.c_contiguous else array

    return make
