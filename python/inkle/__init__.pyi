# Made by `scripts/builtin_pages.py`.
# The types of kernels are checked by inkle when it compiles them; these are coarser.
import builtins as _builtins
from typing import Any, Generic, TypeAlias, TypeVar
from typing import overload as _overload

_T = TypeVar("_T")

class _Value:
    """Scalars, vectors, matrices, quaternions and transforms have the operators that kernels have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __len__(self) -> _builtins.int: ...
    def __add__(self, other: Any) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...

class _Scalar(_Value): ...
class _Vector(_Value): ...
class _Matrix(_Value): ...
class _Quaternion(_Value): ...
class _Transform(_Value): ...

_Number: TypeAlias = _builtins.float | _Scalar

from inkle import config as config
from inkle import autograd as autograd
from inkle import fem as fem
from inkle import geometry as geometry
from inkle import optim as optim
from inkle import render as render
from inkle import sparse as sparse
from inkle import types as types
from inkle import utils as utils
class int8(_Scalar): ...
class uint8(_Scalar): ...
class int16(_Scalar): ...
class uint16(_Scalar): ...
class int32(_Scalar): ...
class uint32(_Scalar): ...
class int64(_Scalar): ...
class uint64(_Scalar): ...
class bool(_Scalar): ...
class bfloat16(_Scalar): ...
class float16(_Scalar): ...
class float32(_Scalar): ...
class float64(_Scalar): ...
class vec2(_Vector): ...
class vec2h(_Vector): ...
class vec2f(_Vector): ...
class vec2d(_Vector): ...
class vec2b(_Vector): ...
class vec2ub(_Vector): ...
class vec2s(_Vector): ...
class vec2us(_Vector): ...
class vec2i(_Vector): ...
class vec2ui(_Vector): ...
class vec2l(_Vector): ...
class vec2ul(_Vector): ...
class vec3(_Vector): ...
class vec3h(_Vector): ...
class vec3f(_Vector): ...
class vec3d(_Vector): ...
class vec3b(_Vector): ...
class vec3ub(_Vector): ...
class vec3s(_Vector): ...
class vec3us(_Vector): ...
class vec3i(_Vector): ...
class vec3ui(_Vector): ...
class vec3l(_Vector): ...
class vec3ul(_Vector): ...
class vec4(_Vector): ...
class vec4h(_Vector): ...
class vec4f(_Vector): ...
class vec4d(_Vector): ...
class vec4b(_Vector): ...
class vec4ub(_Vector): ...
class vec4s(_Vector): ...
class vec4us(_Vector): ...
class vec4i(_Vector): ...
class vec4ui(_Vector): ...
class vec4l(_Vector): ...
class vec4ul(_Vector): ...
class mat22(_Matrix): ...
class mat22h(_Matrix): ...
class mat22f(_Matrix): ...
class mat22d(_Matrix): ...
class mat33(_Matrix): ...
class mat33h(_Matrix): ...
class mat33f(_Matrix): ...
class mat33d(_Matrix): ...
class mat44(_Matrix): ...
class mat44h(_Matrix): ...
class mat44f(_Matrix): ...
class mat44d(_Matrix): ...
class quat(_Quaternion): ...
class quath(_Quaternion): ...
class quatf(_Quaternion): ...
class quatd(_Quaternion): ...
class transform(_Transform): ...
class transformh(_Transform): ...
class transformf(_Transform): ...
class transformd(_Transform): ...
class spatial_vector(_Vector): ...
class spatial_vectorh(_Vector): ...
class spatial_vectorf(_Vector): ...
class spatial_vectord(_Vector): ...
class spatial_matrix(_Matrix): ...
class spatial_matrixh(_Matrix): ...
class spatial_matrixf(_Matrix): ...
class spatial_matrixd(_Matrix): ...

class ArgumentError(Exception):
    """A value does not fit where it was given: wrong type, dtype, shape, device or count."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Builtin:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ...
    @property
    def forms(self) -> Any:
        """Its forms, in the order they are tried: group of the documentation, signature, documentation."""
    @property
    def key(self) -> Any:
        """The name users call it by."""

class CaptureMode:
    """How strict the CUDA driver is, during a capture, about calls that cannot be captured."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CompileAttributeError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CompileError(Exception):
    """A kernel is wrong. The text shows every mistake with its place in the source; the attribute
    `diagnostics` is a list of dicts with code, message, file, line, column, label and help.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CompileNameError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CompileTypeError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class DeterministicMode:
    """How far results are the same from run to run."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Device:
    """The CPU or a GPU. Equal to its alias, so `device == "cuda:0"` can be asked."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def alias(self) -> Any:
        """How users name it: `cpu`, `cuda:0`."""
    @property
    def arch(self) -> Any:
        """The GPU's compute capability, 90 for sm_90; zero for the CPU."""
    def can_access(self, other: Any) -> Any:
        """Whether kernels here can use memory of `other` directly."""
    @property
    def free_memory(self) -> Any:
        """How much of the device's memory is free, bytes."""
    @property
    def has_stream(self) -> Any:
        """Whether the device has streams."""
    @property
    def is_capturing(self) -> Any:
        """Whether a graph of this thread is recorded: of what it does on the CPU, or on the device's current stream."""
    @property
    def is_cpu(self) -> Any:
        """Whether it is the CPU."""
    @property
    def is_cubin_supported(self) -> Any:
        """Whether compiled GPU code, rather than PTX, can be loaded."""
    @property
    def is_cuda(self) -> Any:
        """Whether it is a GPU."""
    @property
    def is_mempool_enabled(self) -> Any:
        """Whether new allocations come from the stream-ordered pool."""
    @property
    def is_mempool_supported(self) -> Any:
        """Whether the GPU has stream-ordered memory pools."""
    @property
    def is_primary(self) -> Any:
        """Whether it is used through the GPU's primary context, which other libraries share."""
    @property
    def is_uva(self) -> Any:
        """Whether addresses of host and GPU are of one space."""
    def make_current(self) -> Any:
        """Nothing to do: contexts are made current where they are needed."""
    @property
    def max_shared_memory_per_block(self) -> Any:
        """The most shared memory a block can ask for, bytes; zero for the CPU."""
    @property
    def name(self) -> Any:
        """The maker's name of it."""
    @property
    def ordinal(self) -> Any:
        """The GPU's ordinal; -1 for the CPU."""
    @property
    def pci_bus_id(self) -> Any:
        """The GPU's place on the bus."""
    def set_stream(self, stream: Any, sync: Any = ...) -> Any:
        """Makes `stream` current; `sync` first makes it wait for the one before."""
    @property
    def sm_count(self) -> Any:
        """The number of multiprocessors; zero for the CPU."""
    @property
    def stream(self) -> Any:
        """The GPU's current stream."""
    @property
    def total_memory(self) -> Any:
        """The size of the device's memory, bytes."""
    @property
    def uuid(self) -> Any:
        """The GPU's unique identifier."""

E: _builtins.float

class Event:
    """A point in a stream's work."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def cuda_event(self) -> Any:
        """The `CUevent` handle, for other libraries."""
    @property
    def device(self) -> Any:
        """The GPU it belongs to."""
    @property
    def enable_timing(self) -> Any:
        """Whether it measures time."""
    @property
    def is_complete(self) -> Any:
        """Whether the recorded work is done."""

class Function:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ...
    @property
    def adj_native_snippet(self) -> Any:
        """The C++ text of a native function's backward pass."""
    @property
    def func(self) -> Any:
        """The Python function."""
    def give(self, role: Any, function: Any) -> Any:
        """Makes a Python function the gradient (`"gradient"`) or the replay (`"replay"`) of this one."""
    @property
    def key(self) -> Any:
        """The name within the module."""
    @property
    def module(self) -> Any:
        """The module the function belongs to."""
    @property
    def native_snippet(self) -> Any:
        """The C++ text of a native function; `None` for others."""
    @property
    def replay_snippet(self) -> Any:
        """The C++ text that a backward pass runs in place of a native function."""

class Graph:
    """A captured sequence of operations."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def device(self) -> Any:
        """The device it runs on."""
    def get_param(self, name: Any, array: Any) -> Any:
        """Copies the values of a parameter, or of what the graph uses in an array's place (see `set_param`), to `array`."""
    def get_param_ptr(self, name: Any) -> Any:
        """The address of a parameter; `None` if there is none of that name."""
    @property
    def is_loaded(self) -> Any:
        """Whether it comes from a file."""
    @property
    def op_count(self) -> Any:
        """The number of operations, those inside conditions and loops too."""
    @property
    def params(self) -> Any:
        """The named parameters of a graph from a file: for each what it is for, element type, shape and size in bytes."""
    def set_param(self, name: Any, array: Any, copy: Any = ...) -> Any:
        """Gives the graph another array to work on.

        `name` is a parameter of a graph from a file, whose values are set to those of `array`; or, of a graph that was
        captured here, an array of the capture, in whose place it uses `array` from now on, whatever was there before; or else
        an array that it uses now. `copy` chooses between the two: copying
        values into the graph's memory, and letting the graph use the other array's memory, which then has to be laid out
        in the same way.
        """

HALF_PI: _builtins.float

INF: _builtins.float

class Kernel:
    """A kernel: launched, never called."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ...
    @property
    def adj(self) -> Any:
        """What the kernel was made from: `adj.args` are its parameters."""
    def array_access(self, inputs: Any = ...) -> Any:
        """What the kernel may do with the arrays among its arguments.

        Args:
            inputs: The arguments of a launch, which a generic kernel needs.

        Returns:
            For each array `""`, `"r"`, `"w"` or `"rw"`: whether its elements may be read and written. The keys are names
            of parameters, with a dot and the field for arrays in structs. Atomic operations read and write; what cannot
            be followed, such as native code, counts as both.
        """
    @property
    def func(self) -> Any:
        """The Python function."""
    @property
    def has_backward(self) -> Any:
        """Whether the kernel, its module and `inkle.config` leave the backward pass switched on."""
    @property
    def is_generic(self) -> Any:
        """Whether some parameter takes more than one type."""
    @property
    def key(self) -> Any:
        """The name within the module."""
    @property
    def module(self) -> Any:
        """The module the kernel belongs to."""
    @property
    def options(self) -> Any:
        """The options given to the decorator."""
    @property
    def overloads(self) -> Any:
        """The overloads that `inkle.overload` declared of a generic kernel, by the types of their parameters."""
    @property
    def parameter_names(self) -> Any:
        """The names of the parameters."""

LN10: _builtins.float

LN2: _builtins.float

LOG10E: _builtins.float

LOG2E: _builtins.float

LOG_DEBUG: _builtins.int

LOG_ERROR: _builtins.int

LOG_INFO: _builtins.int

LOG_WARNING: _builtins.int

class Launch:
    """A recorded launch: runs again and again without looking at its arguments."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def block_dim(self) -> Any:
        """Threads per block on a GPU."""
    @property
    def bounds(self) -> Any:
        """The extents of the range: `shape`, and their product, `size`."""
    @property
    def device(self) -> Any:
        """Where it runs."""
    @property
    def kernel(self) -> Any:
        """The kernel."""
    def launch(self, stream: Any = ...) -> Any:
        """Runs the launch on `stream`, or on the one it was recorded for. A tape records it, with the arguments of that time."""
    @property
    def max_blocks(self) -> Any:
        """The most blocks on a GPU; 0 for no limit."""
    def set_dim(self, dim: Any) -> Any:
        """Sets the extents of the range."""
    def set_param_at_index(self, index: Any, value: Any, adjoint: Any = ...) -> Any:
        """Sets the argument at a place; with `adjoint`, of a launch that runs backwards, the gradient to use in place of the
        array's own, or `None` for that one.
        """
    def set_param_at_index_from_ctype(self, index: Any, value: Any) -> Any:
        """As `set_param_at_index`; what `__ctype__()` of arrays and structs gives is taken too."""
    def set_param_by_name(self, name: Any, value: Any, adjoint: Any = ...) -> Any:
        """Sets the argument of a name, or its gradient; see `set_param_at_index`."""
    def set_param_by_name_from_ctype(self, name: Any, value: Any) -> Any:
        """As `set_param_by_name`; what `__ctype__()` of arrays and structs gives is taken too."""
    def set_params(self, values: Any) -> Any:
        """Sets the first arguments, as many as are given."""
    def set_params_from_ctypes(self, values: Any) -> Any:
        """As `set_params`; what `__ctype__()` of arrays and structs gives is taken too."""

class Logger:
    """What ``set_logger`` takes: an object with these four methods."""
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ...
    def debug(self, message: Any) -> Any:
        """Takes a message of interest to developers of kernels."""
    def error(self, message: Any) -> Any:
        """Takes the description of a failure."""
    def info(self, message: Any) -> Any:
        """Takes a message about what is done."""
    def warning(self, message: Any, category: Any = ..., stacklevel: Any = ...) -> Any:
        """Takes a warning, of a class of ``warnings`` or ``None``."""

class MemoryKind:
    """Where the elements of an array are."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Module:
    """A group of kernels, functions and structs that share options."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def functions(self) -> Any:
        ...
    def get_module_identifier(self) -> Any:
        """What the names of the files start with that `compile_aot_module` makes."""
    @property
    def kernels(self) -> Any:
        ...
    def load(self, device: Any = ..., block_dim: Any = ...) -> Any:
        """Compiles and loads the kernels for a device, those that are right: a mistake in another one is reported by its
        launch, and by `load_module`.
        """
    def mark_modified(self) -> Any:
        """Tells that something the kernels depend on has changed."""
    @property
    def name(self) -> Any:
        """The name."""
    @property
    def options(self) -> Any:
        ...
    @property
    def structs(self) -> Any:
        ...
    def unload(self) -> Any:
        """Forgets loaded code, that from files of compiled modules too; the next launch of each kernel looks it up again."""

NAN: _builtins.float

class OutOfMemoryError(Exception):
    """Memory of a device could not be allocated."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

PHI: _builtins.float

PI: _builtins.float

class RangeError(Exception):
    """An index or a range lies outside an array."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class ScopedCapture:
    """Captures what the statements inside a ``with`` statement do; the graph is in ``graph`` afterwards.

        Args:
            device: The device; the default one for ``None``.
            stream: The stream whose work is recorded, for a GPU.
            force_module_load: Accepted: kernels are loaded as they are recorded.
            external: Whether somebody else has begun the capture of the stream.
            apic: Accepted: every graph can be saved.
            capture_mode: How strict the driver is about calls that cannot be captured.
    """
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, device: Any = ..., stream: Any = ..., force_module_load: Any = ..., external: Any = ..., apic: Any = ..., capture_mode: Any = ...) -> None:
        ...

class ScopedDevice:
    """Makes a device the default one inside a ``with`` statement; ``None`` keeps the default device."""
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, device: Any) -> None:
        ...

class ScopedLogLevel:
    """Shows messages from ``level`` on inside a ``with`` statement."""
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, level: Any) -> None:
        ...

class ScopedLogger:
    """Sends messages to ``logger`` inside a ``with`` statement."""
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, logger: Any) -> None:
        ...

class ScopedMempool:
    """Turns the memory pool of a device on or off inside a ``with`` statement."""
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, device: Any, enable: Any) -> None:
        ...

class ScopedStream:
    """Makes a stream current on its device inside a ``with`` statement, and its device the default one.

        ``sync_enter``: the stream first waits for the one that was current. ``sync_exit``: afterwards the one that was
        current waits for the stream. ``None`` changes nothing.
    """
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, stream: Any, sync_enter: Any = ..., sync_exit: Any = ...) -> None:
        ...

class ScopedTimer:
    """Measures the wall time of a ``with`` statement, in milliseconds, in ``elapsed``.

        Args:
            name: What is measured.
            active: Whether to measure at all.
            print: Whether to print the time.
            detailed: Whether to print a profile of the Python code too.
            dict: Where to append the time, under ``name``.
            use_nvtx: Accepted; ranges for NVIDIA's profilers are not made.
            color: Accepted with ``use_nvtx``.
            synchronize: Whether to wait for all devices before and after.
            cuda_filter: Accepted; times of single GPU activities are not collected.
            report_func: Called with the collected GPU activities, which are none, and the indentation.
            skip_tape: Accepted; gradients record nothing of timers.
    """
    def __enter__(self) -> Any:
        ...
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        ...
    def __init__(self, name: Any, active: Any = ..., print: Any = ..., detailed: Any = ..., dict: Any = ..., use_nvtx: Any = ..., color: Any = ..., synchronize: Any = ..., cuda_filter: Any = ..., report_func: Any = ..., skip_tape: Any = ...) -> None:
        ...

class Stream:
    """An ordered queue of work on a GPU."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def cuda_stream(self) -> Any:
        """The `CUstream` handle, for other libraries."""
    @property
    def device(self) -> Any:
        """The GPU it belongs to."""
    @property
    def is_blocking(self) -> Any:
        """Whether it is ordered with the legacy default stream."""
    @property
    def is_capturing(self) -> Any:
        """Whether the stream is recording a graph."""
    @property
    def is_complete(self) -> Any:
        """Whether everything on the stream is done."""
    @property
    def priority(self) -> Any:
        """The priority it was created with, clamped to what the device has."""
    def record_event(self, event: Any = ..., external: Any = ...) -> Any:
        """Records an event here: the given one, or a new one."""
    def wait_event(self, event: Any, external: Any = ...) -> Any:
        """Makes later work here wait for what an event has recorded; the host does not wait."""
    def wait_stream(self, other_stream: Any, event: Any = ..., external: Any = ...) -> Any:
        """Makes later work here wait for all work another stream has now; the host does not wait."""

TAU: _builtins.float

TIMING_ALL: _builtins.int

TIMING_GRAPH: _builtins.int

TIMING_KERNEL: _builtins.int

TIMING_KERNEL_BUILTIN: _builtins.int

TIMING_MEMCPY: _builtins.int

TIMING_MEMSET: _builtins.int

class WarpCodegenAttributeError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class WarpCodegenError(Exception):
    """A kernel is wrong. The text shows every mistake with its place in the source; the attribute
    `diagnostics` is a list of dicts with code, message, file, line, column, label and help.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class WarpCodegenIndexError(Exception):
    """A kernel is wrong. The text shows every mistake with its place in the source; the attribute
    `diagnostics` is a list of dicts with code, message, file, line, column, label and help.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class WarpCodegenKeyError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class WarpCodegenTypeError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class WarpCodegenValueError(Exception):
    """A kernel is wrong; see `inkle.CompileError`."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class array(Generic[_T]):
    """A typed array of one to four dimensions, or the annotation of one."""
    def __getitem__(self, key: Any) -> Any:
        ...
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ...
    def __len__(self) -> Any:
        ...
    def __setitem__(self, key: Any, value: Any) -> Any:
        ...
    def assign(self, src: Any) -> Any:
        """Copies elements from another array, a numpy array or a list."""
    @property
    def capacity(self) -> Any:
        """The bytes the array may use, from its first element on."""
    def contiguous(self) -> Any:
        """The array itself if its elements follow one another, else a copy in which they do."""
    @property
    def device(self) -> Any:
        """The device the elements are on; `None` for an annotation."""
    @property
    def dtype(self) -> Any:
        """The object that stands for the element type."""
    def fill_(self, value: Any) -> Any:
        """Sets every element to `value`."""
    def flatten(self) -> Any:
        """A view with one dimension. The array must be contiguous."""
    @property
    def grad(self) -> Any:
        """The array of the gradient, or `None`."""
    @property
    def is_contiguous(self) -> Any:
        """Whether the elements follow one another in row-major order without gaps."""
    def list(self) -> Any:
        """The elements in one flat list."""
    def mark_init(self) -> Any:
        """Forgets what `mark_read` noted of the elements."""
    def mark_read(self) -> Any:
        """Notes that elements were read by something that a tape does not see and whose backward pass needs them."""
    def mark_write(self) -> Any:
        """Warns if elements were read that a backward pass still needs: for a program that changes them where a tape does not
        see it.
        """
    @property
    def memory_kind(self) -> Any:
        """What kind of memory the elements are in, a `MemoryKind`."""
    @property
    def ndim(self) -> Any:
        """The number of dimensions."""
    def numpy(self, **_options: Any) -> Any:
        """A numpy array: an array of strides on the CPU shares memory with it, other elements are copied after the queued
        work.
        """
    @property
    def pinned(self) -> Any:
        """Whether the elements lie in page-locked host memory."""
    @property
    def ptr(self) -> Any:
        """The address of the first element; `None` when there are no elements."""
    @property
    def requires_grad(self) -> Any:
        """Whether there is a gradient."""
    def reshape(self, shape: Any) -> Any:
        """A view in another shape; one extent may be -1. The array must be contiguous."""
    @property
    def retain_grad(self) -> Any:
        """Whether the backward pass of a kernel leaves the gradient of elements that the kernel wrote as it is. Without, it
        becomes zero, as what was in the elements before had no part in what came after.
        """
    @property
    def shape(self) -> Any:
        """The extents; of an annotation zeros, or what was assigned."""
    @property
    def size(self) -> Any:
        """The number of elements."""
    @property
    def strides(self) -> Any:
        """The distances between neighbours, bytes."""
    def to(self, device: Any, requires_grad: Any = ...) -> Any:
        """The array itself if it is on `device`, else a copy there."""
    def transpose(self, axes: Any = ...) -> Any:
        """A view with the dimensions in another order; reversed without `axes`."""
    def view(self, dtype: Any) -> Any:
        """A view of the same bytes with another element type. A vector or matrix type takes up the last dimensions
        when they are its shape; from a vector or matrix to its scalar they come back.
        """
    def zero_(self) -> Any:
        """Sets every element to zero."""

class array1d(Generic[_T]):
    """``array1d(dtype=float)`` and ``array1d[float]`` are annotations; with data it makes an array."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class array2d(Generic[_T]):
    """As ``array1d``, with two dimensions."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class array3d(Generic[_T]):
    """As ``array1d``, with three dimensions."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class array4d(Generic[_T]):
    """As ``array1d``, with four dimensions."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

def builtin(name: Any) -> Any:
    """The built-in of a name; `None` when there is none."""

def builtin_names() -> Any:
    """The names of all built-ins."""

def capture_begin(device: Any = ..., stream: Any = ..., force_module_load: Any = ..., external: Any = ..., apic: Any = ..., capture_mode: Any = ...) -> Any:
    """Begins to record what this thread does on a device, for a graph.

    On the CPU nothing of it runs until the graph is launched. Reading an array back gives what it held before.

    Args:
        device: The device; the default one for `None`.
        stream: The stream whose work is recorded, for a GPU.
        force_module_load: Accepted: kernels are loaded as they are recorded.
        external: Whether somebody else has begun the capture of the stream.
        apic: Accepted: every graph can be saved.
        capture_mode: How strict the driver is about calls that cannot be captured.
    """

def capture_debug_dot_print(graph: Any, path: Any, verbose: Any = ...) -> Any:
    """Writes what a graph does, and what of it depends on what, as a drawing for Graphviz."""

def capture_end(device: Any = ..., stream: Any = ...) -> Any:
    """Ends a capture and gives its graph."""

def capture_if(condition: Any, on_true: Any = ..., on_false: Any = ..., stream: Any = ..., **kwargs: Any) -> Any:
    """Does one of two things, depending on an `int32` in an array when this point is reached.

    While a graph is captured both are recorded, and every launch of the graph looks at the condition anew.

    Args:
        condition: The array; its first element decides.
        on_true: A callable or a graph, for a condition that is not zero.
        on_false: A callable or a graph, for zero.
        stream: The stream.
        kwargs: Passed to the callables.
    """

def capture_launch(graph: Any, stream: Any = ...) -> Any:
    """Runs a graph: at once on the CPU, on a stream on a GPU. While another graph is captured it becomes part of that one."""

def capture_load(path: Any, device: Any = ..., recompile: Any = ..., public_key: Any = ...) -> Any:
    """A graph from a file that `capture_save` wrote, or from the bytes of one.

    Its memory is its own: `set_param` and `get_param` reach the arrays that were named. Code for the device is in the
    file; no kernel of the program is needed.

    Args:
        path: The file's path, or its bytes. A file that Warp 1.17 to 1.19 saved of a graph of a GPU is replayed too, if its
            folder of code is beside it; what it uses beyond launches, copies, fills, conditions, loops and algorithms of
            `wp.utils` is named in the error.
        device: The device to run on; the default one for `None`.
        recompile: Whether the kernels are compiled for this very device, from the IR in the file: `None` does so where the
            file has no code for it, or for a GPU only PTX for older ones; `True` always, `False` never. A GPU has algorithms
            of `wp.utils` in a file as kernels, which are compiled, so never with `False`.
        public_key: The key that the file has to be signed with (`inkle sign`): the path of a file in PEM, or 32 bytes.
    """

def capture_load_from_bytes(data: Any, modules: Any = ..., device: Any = ...) -> Any:
    """A graph from the bytes of a file that `capture_save` wrote. `modules` has, by name, the files of code that Warp writes
    beside its own files; inkle's have all their code inside.
    """

def capture_pause(device: Any = ..., stream: Any = ...) -> Any:
    """Stops recording for a while: operations run at once until `capture_resume` gets the graph that this gives."""

def capture_resume(graph: Any, device: Any = ..., stream: Any = ...) -> Any:
    """Goes on recording after `capture_pause`."""

def capture_save(graph: Any, path: Any, inputs: Any = ..., outputs: Any = ..., source_fallback: Any = ..., targets: Any = ..., include_ir: Any = ...) -> Any:
    """Writes a graph into one file, with its memory as it is now and code for several machines.

    The file runs on any x86-64 or 64-bit Arm CPU and any NVIDIA GPU from sm_75 on. It is written whole or not at all.

    Args:
        graph: The graph.
        path: Where to. Without an extension it gets `.wrp`.
        inputs: Names for arrays that are set before the graph runs.
        outputs: Names for arrays that are read after it ran.
        source_fallback: Whether the kernels' IR must be inside; it is unless `include_ir` says no.
        targets: What there is to be code for besides: `sm_90` and so on (machine code for a GPU, which the driver need
            not compile), `compute_90` (PTX), `x86-64-v4`, `native`.
        include_ir: Whether the kernels' IR is inside, so that inkle can compile them for machines nobody thought of.
    """

def capture_while(condition: Any, while_body: Any, stream: Any = ..., **kwargs: Any) -> Any:
    """Does something again and again, as long as an `int32` in an array, looked at before each time, is not zero.

    While a graph is captured the body is recorded once.

    Args:
        condition: The array; its first element decides.
        while_body: A callable or a graph.
        stream: The stream.
        kwargs: Passed to the callable.
    """

def clear_kernel_cache() -> Any:
    """Deletes the compiled kernels on disk. Kernels loaded in this process stay loaded; they are compiled again when
    they are loaded next.
    """

def clear_lto_cache() -> Any:
    """Deletes what linking left on disk, which is nothing: inkle keeps a kernel's finished code only, in the kernel cache,
    and `clear_kernel_cache` deletes that.
    """

def clone(src: Any, device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ...) -> Any:
    """A contiguous copy of an array."""

def compile_aot_module(module: Any, device: Any = ..., arch: Any = ..., module_dir: Any = ..., use_ptx: Any = ..., strip_hash: Any = ...) -> Any:
    """Compiles the kernels of a module into files that `load_aot_module` loads, on this machine or another one: one file a
    target, named after the module, its hash and the target. Needs no GPU. A file that has the code already is left as it is.

    Args:
        module: The module, its name, or the Python module it belongs to.
        device: The device to compile for, or a list of devices; the current one when no `arch` is given either.
        arch: What else to compile for, one or several of: a compute capability times ten (`90`, `"sm_90"`), `"x86_64"` and
            `"aarch64"` for any CPU of that family, `"x86-64-v3"`, `"x86-64-v4"`.
        module_dir: The folder; by default one in the kernel cache.
        use_ptx: Whether GPU code is PTX, which newer GPUs run too, or machine code; PTX unless `cuda_output` says otherwise.
        strip_hash: Whether files are named without the hash, so that they are found by programs whose kernels have other
            bodies or none. Sets the module option of that name.

    Returns:
        The paths of the files, those for devices first.
    """

def constant(x: Any) -> Any:
    """Checks that a value can be a compile-time constant, and gives it back."""

def copy(dest: Any, src: Any, dest_offset: Any = ..., src_offset: Any = ..., count: Any = ..., stream: Any = ...) -> Any:
    """Copies elements from `src` to `dest`.

    Without offsets and count all elements are copied. `count` elements, or as many as `src` has after its offset,
    are copied from place `src_offset` to place `dest_offset` of arrays that are contiguous or have one dimension.
    """

def dtype_from_numpy(numpy_dtype: Any) -> Any:
    """The scalar class of a numpy dtype."""

def dtype_to_numpy(warp_dtype: Any) -> Any:
    """The numpy scalar class of a scalar type."""

e: _builtins.float

def empty(shape: Any = ..., dtype: Any = ..., device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ..., **kwargs: Any) -> Any:
    """An array with elements of any value. `dtype` is `float32` when left out."""

def empty_like(src: Any, device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ...) -> Any:
    """An array like another, with elements of any value."""

class fabricarray(Generic[_T]):
    """An array whose elements lie in buckets that another program owns: an attribute of what `data` describes. Without
    data it is an annotation: `fabricarray(dtype=float)`, with `ndim=2` of arrays whose elements are arrays.
    """
    def __getitem__(self, key: Any) -> Any:
        ...
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ...
    def __len__(self) -> Any:
        ...
    @property
    def access(self) -> Any:
        """How the owner lets the elements be used, as the interface says it."""
    def assign(self, src: Any) -> Any:
        """Copies elements from another array, a numpy array or a list."""
    def contiguous(self) -> Any:
        """The array itself if its elements follow one another, else a copy in which they do."""
    @property
    def device(self) -> Any:
        """The device the elements are on; `None` for an annotation."""
    @property
    def dtype(self) -> Any:
        """The object that stands for the element type."""
    def fill_(self, value: Any) -> Any:
        """Sets every element to `value`."""
    @property
    def grad(self) -> Any:
        """The array of the gradient, or `None`; of an array seen through lists that of the array."""
    @property
    def is_contiguous(self) -> Any:
        """Whether the elements follow one another in row-major order without gaps."""
    def list(self) -> Any:
        """The elements in one flat list."""
    def mark_init(self) -> Any:
        """Forgets what `mark_read` noted of the elements."""
    def mark_read(self) -> Any:
        """Notes that elements were read by something that a tape does not see and whose backward pass needs them."""
    def mark_write(self) -> Any:
        """Warns if elements were read that a backward pass still needs: for a program that changes them where a tape does not
        see it.
        """
    @property
    def ndim(self) -> Any:
        """The number of dimensions."""
    def numpy(self, **_options: Any) -> Any:
        """A numpy array: an array of strides on the CPU shares memory with it, other elements are copied after the queued
        work.
        """
    @property
    def requires_grad(self) -> Any:
        """Whether there is a gradient."""
    @property
    def shape(self) -> Any:
        """The extents; of an annotation zeros, or what was assigned."""
    @property
    def size(self) -> Any:
        """The number of elements."""
    def to(self, device: Any, requires_grad: Any = ...) -> Any:
        """The array itself if it is on `device`, else a copy there."""
    def zero_(self) -> Any:
        """Sets every element to zero."""

def fabricarrayarray(**options: Any) -> Any:
    """As ``fabricarray``, of elements that are arrays themselves."""

class fixedarray:
    """``fixedarray(shape=(2, 3), dtype=float)`` is the annotation of an array that kernels make with ``zeros``.

        A function takes and returns it as any array of that element type and number of dimensions.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

def force_load(device: Any = ..., modules: Any = ..., block_dim: Any = ..., max_workers: Any = ...) -> Any:
    """As `load_module`, for several devices and modules; all of them for `None`."""

def from_dlpack(source: Any, dtype: Any = ...) -> Any:
    """An array over the memory of an object with `__dlpack__`, or of a capsule. Without `dtype` the elements are
    scalars; a vector or matrix type takes up the last dimensions.
    """

def from_numpy(arr: Any, dtype: Any = ..., shape: Any = ..., device: Any = ..., requires_grad: Any = ..., retain_grad: Any = ...) -> Any:
    """An array with the elements of a numpy array.

    Without `dtype` and `shape`, two dimensions of data make vectors and three make matrices, as wide as the last
    dimensions.
    """

def from_ptr(ptr: Any, length: Any, dtype: Any = ..., shape: Any = ..., device: Any = ...) -> Any:
    """An array over memory that someone else owns and keeps alive."""

def full(shape: Any = ..., value: Any = ..., dtype: Any = ..., device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ..., **kwargs: Any) -> Any:
    """An array with every element `value`. `dtype` is that of the value when left out."""

def full_like(src: Any, value: Any, device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ...) -> Any:
    """An array like another, with every element `value`."""

def func(f: Any = ..., *, name: Any = ..., module: Any = ..., inline: Any = ...) -> Any:
    """Makes a Python function callable from kernels. Calling it from Python runs it as it is.

    Functions of one name in one module with other annotations are overloads.
    """

def func_grad(forward_func: Any) -> Any:
    """Makes the decorated function the gradient of ``forward_func``.

        It takes the parameters of ``forward_func``, then the gradient of each of its results, and adds to ``adjoint[x]`` for
        each parameter ``x``; of an array it is the array of gradients. Of the overloads of ``forward_func`` it is the gradient
        of the one whose types it has.
    """

def func_native(snippet: Any, adj_snippet: Any = ..., replay_snippet: Any = ...) -> Any:
    """Makes a Python function stand for C++ (or CUDA) code that kernels call.

    The decorated function has the signature and no body; its parameters are variables of the snippet, which gives
    a result by `return`. On a GPU the snippet is CUDA C++, and `__CUDA_ARCH__` is defined. It needs clang of LLVM 22.

    Args:
        snippet: The statements.
        adj_snippet: The statements of the backward pass; `adj_x` is the gradient of `x`, `adj_ret` that of the result.
        replay_snippet: What the backward pass runs in place of `snippet` when it computes values again.
    """

def func_replay(forward_func: Any) -> Any:
    """Makes the decorated function, of the same parameters and results, what a backward pass calls in place of
        ``forward_func`` when it needs its results.
    """

def get_cuda_device(ordinal: Any = ...) -> Any:
    """The GPU of an ordinal; the current GPU for `None`."""

def get_cuda_device_count() -> Any:
    """The number of GPUs."""

def get_cuda_devices() -> Any:
    """Every GPU."""

def get_cuda_driver_version() -> Any:
    """The CUDA version the driver supports, as (major, minor); `None` without a driver."""

def get_cuda_supported_archs() -> Any:
    """The compute capabilities, times ten, that kernels can be compiled for."""

def get_device(ident: Any = ...) -> Any:
    """The device of an identifier; the default device for `None`."""

def get_devices() -> Any:
    """Every device: the CPU, then the GPUs."""

def get_event_elapsed_time(start_event: Any, end_event: Any, synchronize: Any = ...) -> Any:
    """The time between two events made with `enable_timing`, milliseconds."""

def get_logger() -> Any:
    """The object that messages go to."""

def get_mempool_release_threshold(device: Any) -> Any:
    """How much unused memory the pool keeps, bytes, when the device is synchronised."""

def get_mempool_used_mem_current(device: Any) -> Any:
    """How much of the pool is in use now, bytes."""

def get_mempool_used_mem_high(device: Any) -> Any:
    """The most of the pool that was ever in use, bytes."""

def get_module(name: Any) -> Any:
    """The module of a name, made on first use."""

def get_module_options(module: Any = ...) -> Any:
    """The options of a module, or of the calling module."""

def get_preferred_device() -> Any:
    """The first GPU if there is one, else the CPU."""

def get_stream(device: Any = ...) -> Any:
    """The current stream of a GPU."""

def get_suggested_block_size(kernel: Any, device: Any = ...) -> Any:
    """`(block_size, grid_size)`: the threads per block with which most threads of a kernel are resident on a GPU at once,
    and the fewest blocks that fill it; `(1, 1)` for the CPU.

    # Errors
    As `load_kernel`.
    """

half_pi: _builtins.float

class indexedarray(Generic[_T]):
    """An array of which some dimensions are indexed through lists: element `i` is element `indices[i]` of the array.
    Without data it is an annotation: `indexedarray(dtype=float, ndim=2)`.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ...
    def __len__(self) -> Any:
        ...
    def assign(self, src: Any) -> Any:
        """Copies elements from another array, a numpy array or a list."""
    def contiguous(self) -> Any:
        """The array itself if its elements follow one another, else a copy in which they do."""
    @property
    def data(self) -> Any:
        """The array with the elements."""
    @property
    def device(self) -> Any:
        """The device the elements are on; `None` for an annotation."""
    @property
    def dtype(self) -> Any:
        """The object that stands for the element type."""
    def fill_(self, value: Any) -> Any:
        """Sets every element to `value`."""
    @property
    def grad(self) -> Any:
        """The array of the gradient, or `None`; of an array seen through lists that of the array."""
    @property
    def indices(self) -> Any:
        """The index list of each dimension."""
    @property
    def is_contiguous(self) -> Any:
        """Whether the elements follow one another in row-major order without gaps."""
    def list(self) -> Any:
        """The elements in one flat list."""
    def mark_init(self) -> Any:
        """Forgets what `mark_read` noted of the elements."""
    def mark_read(self) -> Any:
        """Notes that elements were read by something that a tape does not see and whose backward pass needs them."""
    def mark_write(self) -> Any:
        """Warns if elements were read that a backward pass still needs: for a program that changes them where a tape does not
        see it.
        """
    @property
    def ndim(self) -> Any:
        """The number of dimensions."""
    def numpy(self, **_options: Any) -> Any:
        """A numpy array: an array of strides on the CPU shares memory with it, other elements are copied after the queued
        work.
        """
    @property
    def requires_grad(self) -> Any:
        """Whether there is a gradient."""
    @property
    def shape(self) -> Any:
        """The extents; of an annotation zeros, or what was assigned."""
    @property
    def size(self) -> Any:
        """The number of elements."""
    def to(self, device: Any, requires_grad: Any = ...) -> Any:
        """The array itself if it is on `device`, else a copy there."""
    def zero_(self) -> Any:
        """Sets every element to zero."""

def indexedarray1d(data: Any = ..., indices: Any = ..., dtype: Any = ...) -> Any:
    """As ``indexedarray``, with one dimension."""

def indexedarray2d(data: Any = ..., indices: Any = ..., dtype: Any = ...) -> Any:
    """As ``indexedarray``, with two dimensions."""

def indexedarray3d(data: Any = ..., indices: Any = ..., dtype: Any = ...) -> Any:
    """As ``indexedarray``, with three dimensions."""

def indexedarray4d(data: Any = ..., indices: Any = ..., dtype: Any = ...) -> Any:
    """As ``indexedarray``, with four dimensions."""

class indexedfabricarray(Generic[_T]):
    """A Fabric array seen through a list of indices: element `i` is element `indices[i]` of `fa`. Without arguments it is
    an annotation: `indexedfabricarray(dtype=float)`.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ...
    def __len__(self) -> Any:
        ...
    def assign(self, src: Any) -> Any:
        """Copies elements from another array, a numpy array or a list."""
    def contiguous(self) -> Any:
        """The array itself if its elements follow one another, else a copy in which they do."""
    @property
    def device(self) -> Any:
        """The device the elements are on; `None` for an annotation."""
    @property
    def dtype(self) -> Any:
        """The object that stands for the element type."""
    @property
    def fa(self) -> Any:
        """The Fabric array that is indexed."""
    def fill_(self, value: Any) -> Any:
        """Sets every element to `value`."""
    @property
    def grad(self) -> Any:
        """The array of the gradient, or `None`; of an array seen through lists that of the array."""
    @property
    def indices(self) -> Any:
        """The list of indices."""
    @property
    def is_contiguous(self) -> Any:
        """Whether the elements follow one another in row-major order without gaps."""
    def list(self) -> Any:
        """The elements in one flat list."""
    def mark_init(self) -> Any:
        """Forgets what `mark_read` noted of the elements."""
    def mark_read(self) -> Any:
        """Notes that elements were read by something that a tape does not see and whose backward pass needs them."""
    def mark_write(self) -> Any:
        """Warns if elements were read that a backward pass still needs: for a program that changes them where a tape does not
        see it.
        """
    @property
    def ndim(self) -> Any:
        """The number of dimensions."""
    def numpy(self, **_options: Any) -> Any:
        """A numpy array: an array of strides on the CPU shares memory with it, other elements are copied after the queued
        work.
        """
    @property
    def requires_grad(self) -> Any:
        """Whether there is a gradient."""
    @property
    def shape(self) -> Any:
        """The extents; of an annotation zeros, or what was assigned."""
    @property
    def size(self) -> Any:
        """The number of elements."""
    def to(self, device: Any, requires_grad: Any = ...) -> Any:
        """The array itself if it is on `device`, else a copy there."""
    def zero_(self) -> Any:
        """Sets every element to zero."""

def indexedfabricarrayarray(**options: Any) -> Any:
    """As ``indexedfabricarray``, of elements that are arrays themselves."""

inf: _builtins.float

def init() -> Any:
    """Nothing to do: inkle starts when it is first used."""

def is_conditional_graph_supported() -> Any:
    """Whether `capture_if` and `capture_while` can be captured on the GPUs here: the driver is that of CUDA 12.4 or newer."""

def is_cpu_available() -> Any:
    """Whether kernels can run on the CPU: always."""

def is_cuda_available() -> Any:
    """Whether there is a GPU and a driver for it."""

def is_device_available(device: Any) -> Any:
    """Whether an identifier names a device of this machine."""

def is_mempool_access_enabled(target_device: Any, peer_device: Any) -> Any:
    """As ``is_peer_access_enabled``, for the memory pool of ``target_device``."""

def is_mempool_access_supported(target_device: Any, peer_device: Any) -> Any:
    """Whether access to the memory pool of ``target_device`` can be turned on: not yet."""

def is_mempool_enabled(device: Any) -> Any:
    """Whether new allocations on the device come from its pool."""

def is_mempool_supported(device: Any) -> Any:
    """Whether the device has stream-ordered memory pools."""

def is_peer_access_enabled(target_device: Any, peer_device: Any) -> Any:
    """Whether ``peer_device`` can reach the memory of ``target_device``: inkle does not turn that on yet."""

def is_peer_access_supported(target_device: Any, peer_device: Any) -> Any:
    """Whether `peer_device` could use memory of `target_device` directly."""

def kernel(f: Any = ..., *, name: Any = ..., enable_backward: Any = ..., launch_bounds: Any = ..., cuda_max_registers: Any = ..., enable_cuda_smem_spilling: Any = ..., cluster_dim: Any = ..., module: Any = ..., module_options: Any = ..., entry_point_abi: Any = ..., grid_stride: Any = ...) -> Any:
    """Makes a Python function a kernel, which `launch` runs on every index of a range.

    All parameters are annotated. `name` is the kernel's name within its module, `module` the module it belongs to
    (`"unique"` for one of its own, which `module_options` are for). The other options steer how it is compiled.
    """

def launch(kernel: Any, dim: Any, inputs: Any = ..., outputs: Any = ..., adj_inputs: Any = ..., adj_outputs: Any = ..., device: Any = ..., stream: Any = ..., adjoint: Any = ..., record_tape: Any = ..., record_cmd: Any = ..., max_blocks: Any = ..., block_dim: Any = ...) -> Any:
    """Starts a kernel on every index of a range and, on the CPU, waits for it.

    Args:
        kernel: The kernel.
        dim: The extents of the range, an int or up to four.
        inputs: The arguments.
        outputs: Further arguments, for clearness: what the kernel writes.
        adj_inputs: For the backward pass: gradients of `inputs` to use in place of the arrays' own, or `None`.
        adj_outputs: For the backward pass: gradients of `outputs`, likewise.
        device: Where to run; the default device for `None`.
        stream: The stream to queue on; the device's current one for `None`.
        adjoint: Whether to run the backward pass: adds to the gradients of what the kernel reads what follows from
            the gradients of what it writes.
        record_tape: Whether a tape records the launch.
        record_cmd: Whether to give back a `Launch` instead of running.
        max_blocks: The most blocks on a GPU; 0 for no limit.
        block_dim: Threads per block on a GPU; the module's for `None`.
    """

ln10: _builtins.float

ln2: _builtins.float

def load_aot_module(module: Any, device: Any = ..., arch: Any = ..., module_dir: Any = ..., use_ptx: Any = ..., strip_hash: Any = ...) -> Any:
    """Loads the code that `compile_aot_module` made of a module, so that launches compile nothing. With `strip_hash` the
    bodies of the program's kernels do not matter and may be missing; their parameters must be those that were compiled.

    Args:
        module: The module, its name, or the Python module it belongs to.
        device: The device to load on, or a list of devices; the current one for `None`.
        arch: What the code was compiled for; by default what fits the device best: its own architecture, for a GPU
            PTX of an older one too, for a CPU the highest level that it has.
        module_dir: The folder; by default the one in the kernel cache.
        use_ptx: Whether GPU code is PTX or machine code; by default whichever is there.
        strip_hash: As it was compiled. Sets the module option of that name.

    Raises `FileNotFoundError` when there is no such file, with those that are there.
    """

def load_module(module: Any = ..., device: Any = ..., recursive: Any = ..., block_dim: Any = ..., max_workers: Any = ...) -> Any:
    """Compiles and loads the kernels of a module now instead of at their first launch, on several cores at once. Of generic
    kernels those overloads are loaded that were declared.

    Args:
        module: A module, its name or a Python module; the calling one for `None`.
        device: Where to load; the default device for `None`.
        recursive: Whether to load the modules inside it too, those that were imported.
        block_dim: Threads per block of the launches to come.
        max_workers: Kernels made at once; for `None` what `inkle.config.load_module_max_workers` says.
    """

log10e: _builtins.float

log2e: _builtins.float

def map(function: Any, *inputs: Any, out: Any = ..., return_kernel: Any = ..., block_dim: Any = ..., device: Any = ...) -> Any:
    """Applies a function to each element of arrays, broadcast against each other, and to values.

        Args:
            function: A function of kernels, a built-in, or a Python function or lambda that kernels could call.
            inputs: Arrays and values; at least one array.
            out: The array for the results, or a list of one per result; new arrays when left out.
            return_kernel: Whether to give back the kernel that does it instead of running it.
            block_dim: As in ``launch``.
            device: Where to run; the device of the first array when left out.
    """

def named_type(name: Any) -> Any:
    """The class of a predefined name such as `vec3`, `mat22d`, `quat`, `transformh`, `spatial_vector`, `float64`;
    `None` for other names.
    """

nan: _builtins.float

def ones(shape: Any = ..., dtype: Any = ..., device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ..., **kwargs: Any) -> Any:
    """An array of ones. `dtype` is `float32` when left out."""

def ones_like(src: Any, device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ...) -> Any:
    """An array like another, of ones."""

def overload(kernel: Any, arg_types: Any = ...) -> Any:
    """A generic kernel with definite argument types, given in a list or by name. As a decorator of a function named like
    the kernel it checks that the function's annotations fit, and gives back the generic kernel.
    """

phi: _builtins.float

pi: _builtins.float

def print_diagnostics() -> Any:
    """Prints versions, settings and devices, for reports of problems, and returns them as a dictionary."""

def record_event(event: Any = ..., external: Any = ...) -> Any:
    """Records an event on the current stream: the given one, or a new one of the default device."""

class ref(Generic[_T]):
    """Annotates a parameter of a function: assignments to it change the variable, the component or the array element
    that the caller passes. Written `inkle.ref[T]`, where `T` is the type of the value, which may be generic.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def dtype(self) -> Any:
        """The type of the value."""
    @property
    def value_type(self) -> Any:
        """The type of the value."""

def set_device(ident: Any) -> Any:
    """Makes a device the default one."""

def set_logger(logger: Any) -> Any:
    """Sends messages to ``logger`` from now on; ``None`` for the one that prints them.

        A logger of Python's ``logging`` is taken as it is: it decides itself what it shows of what ``log_level`` lets through.
    """

def set_mempool_enabled(device: Any, enable: Any) -> Any:
    """Turns the pool on or off for new allocations."""

def set_mempool_release_threshold(device: Any, threshold: Any) -> Any:
    """Sets how much unused memory the pool keeps: bytes, or a share of the device's memory if at most 1."""

def set_module_options(options: Any, module: Any = ...) -> Any:
    """Sets options of a module, or of the calling module."""

def set_stream(stream: Any, device: Any = ..., sync: Any = ...) -> Any:
    """Makes a stream the current one of its GPU; `sync` first makes it wait for the one before."""

def static(expr: Any) -> Any:
    """In a kernel: the value of a Python expression, worked out when the kernel is compiled. Here: the value."""

def struct(c: Any = ..., *, module: Any = ...) -> Any:
    """Makes a Python class with annotated fields a struct that kernels can use."""

def synchronize() -> Any:
    """Waits for all work on every device."""

def synchronize_device(device: Any = ...) -> Any:
    """Waits for all work on a device."""

def synchronize_event(event: Any) -> Any:
    """Waits for the work an event has recorded."""

def synchronize_stream(stream_or_device: Any = ...) -> Any:
    """Waits for all work on a stream; the default device's current one for `None`."""

tau: _builtins.float

def to_dlpack(wp_array: Any) -> Any:
    """A DLPack capsule of an array."""

def transform_expand(t: Any) -> Any:
    """The transform whose position and quaternion are the seven numbers of the sequence `t`."""

def type_names() -> Any:
    """The names that [`named_type`] knows."""

version: _builtins.str

def wait_event(event: Any, external: Any = ...) -> Any:
    """Makes the current stream wait for what an event has recorded; the host does not wait."""

def wait_stream(other_stream: Any, event: Any = ..., external: Any = ...) -> Any:
    """Makes the current stream wait for all work another stream has now; the host does not wait."""

def zeros(shape: Any = ..., dtype: Any = ..., device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ..., **kwargs: Any) -> Any:
    """An array of zeros. `dtype` is `float32` when left out."""

def zeros_like(src: Any, device: Any = ..., requires_grad: Any = ..., pinned: Any = ..., retain_grad: Any = ...) -> Any:
    """An array like another, of zeros."""

device_from_torch: Any

device_to_torch: Any

dtype_from_torch: Any

dtype_to_torch: Any

from_torch: Any

stream_from_torch: Any

stream_to_torch: Any

to_torch: Any

DeviceLike: Any

Float: Any

Int: Any

Scalar: Any

@_overload
def abs(x: _Number) -> _Number:
    """Absolute value, elementwise on vectors."""
@_overload
def abs(x: _Vector) -> _Vector:
    """Absolute value, elementwise on vectors."""

def acos(x: _Number) -> _Number:
    """Arc cosine, radians. The argument is clamped to [-1, 1]."""

@_overload
def add(a: _Number, b: _Number) -> _Number:
    """`a + b`."""
@_overload
def add(a: _Vector, b: _Vector) -> _Vector:
    """`a + b`."""

@_overload
def address(arr: array, i: _Number) -> Any:
    """The value at an index of an array."""
@_overload
def address(arr: array, i: _Number, j: _Number) -> Any:
    """The value at an index of an array."""
@_overload
def address(arr: array, i: _Number, j: _Number, k: _Number) -> Any:
    """The value at an index of an array."""
@_overload
def address(arr: array, i: _Number, j: _Number, k: _Number, l: _Number) -> Any:
    """The value at an index of an array."""

def address_of(place: Any) -> _Number:
    """The address of a variable, a field or component of one, or an element of an array, for functions in C++. That of a variable is valid until its function returns."""

def argmax(a: _Vector) -> _Number:
    """Index of the largest component, the first of equals."""

def argmin(a: _Vector) -> _Number:
    """Index of the smallest component, the first of equals."""

def asin(x: _Number) -> _Number:
    """Arc sine, radians. The argument is clamped to [-1, 1]."""

def atan(x: _Number) -> _Number:
    """Arc tangent, radians."""

def atan2(y: _Number, x: _Number) -> _Number:
    """Angle of the point (x, y), radians."""

@_overload
def atomic_add(arr: array, i: _Number, value: Any) -> Any:
    """Atomically adds to an array element; gives the old value."""
@_overload
def atomic_add(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomically adds to an array element; gives the old value."""
@_overload
def atomic_add(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomically adds to an array element; gives the old value."""
@_overload
def atomic_add(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomically adds to an array element; gives the old value."""

@_overload
def atomic_and(arr: array, i: _Number, value: Any) -> Any:
    """Atomic bitwise and; gives the old value."""
@_overload
def atomic_and(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomic bitwise and; gives the old value."""
@_overload
def atomic_and(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomic bitwise and; gives the old value."""
@_overload
def atomic_and(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomic bitwise and; gives the old value."""

def atomic_cas(arr: array, i: _Number, compare: _Number, value: _Number) -> _Number:
    """Replaces an element by `value` if it equals `compare`; gives the old value."""

@_overload
def atomic_exch(arr: array, i: _Number, value: Any) -> Any:
    """Atomically replaces a value; gives the old one."""
@_overload
def atomic_exch(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomically replaces a value; gives the old one."""
@_overload
def atomic_exch(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomically replaces a value; gives the old one."""
@_overload
def atomic_exch(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomically replaces a value; gives the old one."""

@_overload
def atomic_max(arr: array, i: _Number, value: Any) -> Any:
    """Atomically keeps the larger value; gives the old one."""
@_overload
def atomic_max(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomically keeps the larger value; gives the old one."""
@_overload
def atomic_max(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomically keeps the larger value; gives the old one."""
@_overload
def atomic_max(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomically keeps the larger value; gives the old one."""

@_overload
def atomic_min(arr: array, i: _Number, value: Any) -> Any:
    """Atomically keeps the smaller value; gives the old one."""
@_overload
def atomic_min(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomically keeps the smaller value; gives the old one."""
@_overload
def atomic_min(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomically keeps the smaller value; gives the old one."""
@_overload
def atomic_min(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomically keeps the smaller value; gives the old one."""

@_overload
def atomic_or(arr: array, i: _Number, value: Any) -> Any:
    """Atomic bitwise or; gives the old value."""
@_overload
def atomic_or(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomic bitwise or; gives the old value."""
@_overload
def atomic_or(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomic bitwise or; gives the old value."""
@_overload
def atomic_or(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomic bitwise or; gives the old value."""

@_overload
def atomic_sub(arr: array, i: _Number, value: Any) -> Any:
    """Atomically subtracts from an array element; gives the old value."""
@_overload
def atomic_sub(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomically subtracts from an array element; gives the old value."""
@_overload
def atomic_sub(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomically subtracts from an array element; gives the old value."""
@_overload
def atomic_sub(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomically subtracts from an array element; gives the old value."""

@_overload
def atomic_xor(arr: array, i: _Number, value: Any) -> Any:
    """Atomic bitwise exclusive or; gives the old value."""
@_overload
def atomic_xor(arr: array, i: _Number, j: _Number, value: Any) -> Any:
    """Atomic bitwise exclusive or; gives the old value."""
@_overload
def atomic_xor(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> Any:
    """Atomic bitwise exclusive or; gives the old value."""
@_overload
def atomic_xor(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> Any:
    """Atomic bitwise exclusive or; gives the old value."""

@_overload
def bit_and(a: _Number, b: _Number) -> _Number:
    """`a & b`."""
@_overload
def bit_and(a: _Vector, b: _Vector) -> _Vector:
    """`a & b`."""

def bit_count(x: _Number) -> _Number:
    """Number of bits that are one."""

@_overload
def bit_or(a: _Number, b: _Number) -> _Number:
    """`a | b`."""
@_overload
def bit_or(a: _Vector, b: _Vector) -> _Vector:
    """`a | b`."""

@_overload
def bit_xor(a: _Number, b: _Number) -> _Number:
    """`a ^ b`."""
@_overload
def bit_xor(a: _Vector, b: _Vector) -> _Vector:
    """`a ^ b`."""

def bitcast(*args: Any, **kwargs: Any) -> Any:
    """Reinterprets the bits of a scalar as another type of the same size."""

def block_dim() -> _Number:
    """How many threads run as one block; 1 on CPUs."""

def breakpoint(*args: Any, **kwargs: Any) -> Any:
    """Stops in the debugger that the process runs under; without one the process or the kernel ends."""

def cast(*args: Any, **kwargs: Any) -> Any:
    """Reinterprets the bits of a scalar as another type of the same size."""

def cbrt(x: _Number) -> _Number:
    """Cube root."""

def ceil(x: _Number) -> _Number:
    """Smallest whole number not below `x`."""

def clamp(x: _Number, low: _Number, high: _Number) -> _Number:
    """`x` limited to the range from `low` to `high`.

    If `low` is above `high`, the result is `high`. A NaN `x` gives `low`.
    """

def closest_point_edge_edge(p1: _Vector, q1: _Vector, p2: _Vector, q2: _Vector, epsilon: _Number) -> _Vector:
    """Where the edge from `p1` to `q1` and the edge from `p2` to `q2` are closest to each other.

    The result is the fraction of the way along the first edge, along the second edge, and the distance between these
    points. Edges whose squared length is at most `epsilon` count as points.
    """

def clz(x: _Number) -> _Number:
    """Number of zero bits above the highest one."""

def copysign(x: _Number, y: _Number) -> _Number:
    """The magnitude of `x` with the sign of `y`; the sign of a zero or NaN `y` counts."""

def cos(x: _Number) -> _Number:
    """Cosine of an angle in radians."""

def cosh(x: _Number) -> _Number:
    """Hyperbolic cosine."""

def cross(a: _Vector, b: _Vector) -> _Vector:
    """The vector perpendicular to both, by the right-hand rule, as long as the area they span."""

def ctz(x: _Number) -> _Number:
    """Number of zero bits below the lowest one."""

@_overload
def curlnoise(state: _Number, xy: _Vector, octaves: _Number = 1, lacunarity: _Number = 2.0, gain: _Number = 0.5) -> _Vector:
    """Smooth noise without divergence in the plane: the flow around the hills of `noise`.

    It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    as much.
    """
@_overload
def curlnoise(state: _Number, xyz: _Vector, octaves: _Number = 1, lacunarity: _Number = 2.0, gain: _Number = 0.5) -> _Vector:
    """Smooth noise without divergence in space: the curl of a noise of three components.

    It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    as much.
    """
@_overload
def curlnoise(state: _Number, xyzt: _Vector, octaves: _Number = 1, lacunarity: _Number = 2.0, gain: _Number = 0.5) -> _Vector:
    """Smooth noise without divergence in space that changes with time, the fourth coordinate.

    It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before, in time too, and weighs
    `gain` times as much.
    """

@_overload
def cw_div(a: _Matrix, b: _Matrix) -> _Matrix:
    """The quotients of corresponding components."""
@_overload
def cw_div(a: _Vector, b: _Vector) -> _Vector:
    """The quotients of corresponding components."""

@_overload
def cw_mul(a: _Matrix, b: _Matrix) -> _Matrix:
    """The products of corresponding components."""
@_overload
def cw_mul(a: _Vector, b: _Vector) -> _Vector:
    """The products of corresponding components."""

def ddot(a: _Matrix, b: _Matrix) -> _Number:
    """The sum of the products of corresponding components."""

def degrees(x: _Number) -> _Number:
    """An angle in radians turned into degrees."""

def determinant(a: _Matrix) -> _Number:
    """The determinant."""

def diag(vec: _Vector) -> _Matrix:
    """The matrix with a vector on its diagonal and zeros elsewhere."""

def div(a: _Number, b: _Number) -> _Number:
    """`a / b`; integers truncate."""

@_overload
def div_approx(a: _Number, b: _Number) -> _Number:
    """`a / b`, possibly less accurate than the operator."""
@_overload
def div_approx(a: _Vector, b: _Number) -> _Vector:
    """`a / b`, possibly less accurate than the operator."""
@_overload
def div_approx(a: _Matrix, b: _Number) -> _Matrix:
    """`a / b`, possibly less accurate than the operator."""
@_overload
def div_approx(a: _Quaternion, b: _Number) -> _Quaternion:
    """`a / b`, possibly less accurate than the operator."""
@_overload
def div_approx(a: _Number, b: _Vector) -> _Vector:
    """`a / b`, possibly less accurate than the operator."""
@_overload
def div_approx(a: _Number, b: _Matrix) -> _Matrix:
    """`a / b`, possibly less accurate than the operator."""
@_overload
def div_approx(a: _Number, b: _Quaternion) -> _Quaternion:
    """`a / b`, possibly less accurate than the operator."""

@_overload
def dot(a: _Quaternion, b: _Quaternion) -> _Number:
    """The sum of the products of components."""
@_overload
def dot(a: _Vector, b: _Vector) -> _Number:
    """The sum of the products of components."""

@_overload
def eig3(A: _Matrix) -> _builtins.tuple[_Matrix, _Vector]:
    """The eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order."""
@_overload
def eig3(A: _Matrix, Q: _Matrix, d: _Vector) -> None:
    """Stores the eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order."""

def erf(x: _Number) -> _Number:
    """Error function."""

def erfc(x: _Number) -> _Number:
    """Complementary error function."""

def erfcinv(x: _Number) -> _Number:
    """Inverse of `erfc`."""

def erfinv(x: _Number) -> _Number:
    """Inverse of `erf`."""

def exp(x: _Number) -> _Number:
    """e to the power of `x`."""

def exp2(x: _Number) -> _Number:
    """2 to the power of `x`."""

def expect_eq(a: Any, b: Any) -> None:
    """Prints a message when the values differ."""

@_overload
def expect_near(a: _Number, b: _Number, tolerance: _Number) -> None:
    """Prints a message when values or components differ by more than `tolerance`, by default 1e-6, or are NaN."""
@_overload
def expect_near(a: _Vector, b: _Vector, tolerance: _Number) -> None:
    """Prints a message when values or components differ by more than `tolerance`, by default 1e-6, or are NaN."""
@_overload
def expect_near(a: _Matrix, b: _Matrix, tolerance: _Number) -> None:
    """Prints a message when values or components differ by more than `tolerance`, by default 1e-6, or are NaN."""
@_overload
def expect_near(a: _Quaternion, b: _Quaternion, tolerance: _Number) -> None:
    """Prints a message when values or components differ by more than `tolerance`, by default 1e-6, or are NaN."""

def expect_neq(a: Any, b: Any) -> None:
    """Prints a message when the values are equal."""

@_overload
def extract(a: _Vector, i: _Number) -> _Number:
    """A component of a vector, matrix, quaternion or transform."""
@_overload
def extract(a: _Quaternion, i: _Number) -> _Number:
    """A component of a vector, matrix, quaternion or transform."""
@_overload
def extract(a: _Transform, i: _Number) -> _Number:
    """A component of a vector, matrix, quaternion or transform."""
@_overload
def extract(a: _Matrix, i: _Number, j: _Number) -> _Number:
    """A component of a vector, matrix, quaternion or transform."""

def floor(x: _Number) -> _Number:
    """Largest whole number not above `x`."""

def floordiv(a: _Number, b: _Number) -> _Number:
    """`a // b`, rounded towards minus infinity."""

def frac(x: _Number) -> _Number:
    """The fraction of `x`, with the sign of `x`."""

def get_diag(mat: _Matrix) -> _Vector:
    """The diagonal of a square matrix."""

def grad(*args: Any, **kwargs: Any) -> Any:
    """`grad(f)(x, y)` gives the gradients of the parameters of a function or built-in `f` that are no arrays, as a number or a tuple; those of its results are taken to be one."""

def identity(n: _Number, dtype: _Number) -> _Matrix:
    """The `n` x `n` identity matrix."""

def intersect_tri_tri(v0: _Vector, v1: _Vector, v2: _Vector, u0: _Vector, u1: _Vector, u2: _Vector) -> _Number:
    """1 if two triangles have a point in common, in one plane or not, else 0."""

def inverse(a: _Matrix) -> _Matrix:
    """The inverse; a matrix of determinant zero gives zero."""

def inverse_approx(a: _Matrix) -> _Matrix:
    """The inverse, possibly less accurate than `inverse`."""

@_overload
def invert(x: _Number) -> _Number:
    """`~x`."""
@_overload
def invert(x: _Vector) -> _Vector:
    """`~x`."""

@_overload
def isfinite(x: _Number) -> _builtins.bool:
    """Whether `x` is neither infinite nor NaN."""
@_overload
def isfinite(a: _Vector) -> _builtins.bool:
    """Whether every component is finite."""
@_overload
def isfinite(a: _Quaternion) -> _builtins.bool:
    """Whether every component is finite."""
@_overload
def isfinite(a: _Matrix) -> _builtins.bool:
    """Whether every component is finite."""

@_overload
def isinf(x: _Number) -> _builtins.bool:
    """Whether `x` is infinite."""
@_overload
def isinf(a: _Vector) -> _builtins.bool:
    """Whether any component is infinite."""
@_overload
def isinf(a: _Quaternion) -> _builtins.bool:
    """Whether any component is infinite."""
@_overload
def isinf(a: _Matrix) -> _builtins.bool:
    """Whether any component is infinite."""

def isinstance(*args: Any, **kwargs: Any) -> Any:
    """Whether a value has a type, decided while compiling."""

@_overload
def isnan(x: _Number) -> _builtins.bool:
    """Whether `x` is NaN."""
@_overload
def isnan(a: _Vector) -> _builtins.bool:
    """Whether any component is NaN."""
@_overload
def isnan(a: _Quaternion) -> _builtins.bool:
    """Whether any component is NaN."""
@_overload
def isnan(a: _Matrix) -> _builtins.bool:
    """Whether any component is NaN."""

def launch_dim(dim: _Number) -> _Number:
    """The extent of the launch in a dimension."""

def len(a: Any) -> _Number:
    """Number of components of a vector, rows of a matrix, extent of an array's first dimension."""

@_overload
def length(a: _Quaternion) -> _Number:
    """The square root of the sum of the squares of the components."""
@_overload
def length(a: _Vector) -> _Number:
    """The Euclidean length."""

@_overload
def length_sq(a: _Quaternion) -> _Number:
    """The sum of the squares of the components."""
@_overload
def length_sq(a: _Vector) -> _Number:
    """The square of the Euclidean length."""

@_overload
def lerp(a: _Number, b: _Number, t: _Number) -> _Number:
    """The point a fraction `t` of the way from `a` to `b`; `t` outside 0 to 1 extrapolates."""
@_overload
def lerp(a: _Vector, b: _Vector, t: _Number) -> _Vector:
    """The point a fraction `t` of the way from `a` to `b`."""
@_overload
def lerp(a: _Matrix, b: _Matrix, t: _Number) -> _Matrix:
    """Each component a fraction `t` of the way from `a` to `b`."""
@_overload
def lerp(a: _Quaternion, b: _Quaternion, t: _Number) -> _Quaternion:
    """Each component a fraction `t` of the way from `a` to `b`; the result is not normalized."""
@_overload
def lerp(a: _Transform, b: _Transform, t: _Number) -> _Transform:
    """Each component a fraction `t` of the way from `a` to `b`; the rotation is not normalized."""

@_overload
def load(arr: array, i: _Number) -> Any:
    """Reads a reference."""
@_overload
def load(arr: array, i: _Number, j: _Number) -> Any:
    """Reads a reference."""
@_overload
def load(arr: array, i: _Number, j: _Number, k: _Number) -> Any:
    """Reads a reference."""
@_overload
def load(arr: array, i: _Number, j: _Number, k: _Number, l: _Number) -> Any:
    """Reads a reference."""

def log(x: _Number) -> _Number:
    """Natural logarithm."""

def log10(x: _Number) -> _Number:
    """Logarithm to base 10."""

def log2(x: _Number) -> _Number:
    """Logarithm to base 2."""

@_overload
def lower_bound(arr: array, value: _Number) -> _Number:
    """Index of the first element of a sorted array that is not below `value`.

    The last index if every element is below it; `arr` has at least one element.
    """
@_overload
def lower_bound(arr: array, arr_begin: _Number, arr_end: _Number, value: _Number) -> _Number:
    """Index of the first element not below `value` among those from `arr_begin` to before `arr_end`.

    The elements there are sorted. The last of these indices if every element is below `value`.
    """

@_overload
def lshift(a: _Number, b: _Number) -> _Number:
    """`a << b`."""
@_overload
def lshift(a: _Vector, b: _Vector) -> _Vector:
    """`a << b`."""

def matrix(*args: Any, **kwargs: Any) -> Any:
    """A matrix from its components, rows or one value for all."""

def matrix_from_cols(*args: Any, **kwargs: Any) -> Any:
    """The matrix whose columns are the given vectors, as many as there are."""

def matrix_from_rows(*args: Any, **kwargs: Any) -> Any:
    """The matrix whose rows are the given vectors, as many as there are."""

@_overload
def max(a: _Number, b: _Number) -> _Number:
    """The larger of two values, elementwise on vectors; of one vector its largest component."""
@_overload
def max(a: _Vector, b: _Vector) -> _Vector:
    """The larger of two values, elementwise on vectors; of one vector its largest component."""
@_overload
def max(a: _Vector) -> _Number:
    """The largest component."""

@_overload
def min(a: _Number, b: _Number) -> _Number:
    """The smaller of two values, elementwise on vectors; of one vector its smallest component."""
@_overload
def min(a: _Vector, b: _Vector) -> _Vector:
    """The smaller of two values, elementwise on vectors; of one vector its smallest component."""
@_overload
def min(a: _Vector) -> _Number:
    """The smallest component."""

@_overload
def mod(a: _Number, b: _Number) -> _Number:
    """`a % b`, with the sign of `a`."""
@_overload
def mod(a: _Vector, b: _Vector) -> _Vector:
    """`a % b`, with the sign of `a`."""

def mul(a: _Number, b: _Number) -> _Number:
    """`a * b`."""

def neg(x: _Number) -> _Number:
    """`-x`."""

@_overload
def noise(state: _Number, x: _Number) -> _Number:
    """Smooth noise along a line, of mean zero, that is zero at whole numbers.

    `state` chooses the noise, the same for all points; see `rand_init`. It is not advanced.
    """
@_overload
def noise(state: _Number, xy: _Vector) -> _Number:
    """Smooth noise in the plane, of mean zero, that is zero where all coordinates are whole."""
@_overload
def noise(state: _Number, xyz: _Vector) -> _Number:
    """Smooth noise in space, of mean zero, that is zero where all coordinates are whole."""
@_overload
def noise(state: _Number, xyzt: _Vector) -> _Number:
    """Smooth noise in space and time, of mean zero, that is zero where all coordinates are whole."""

def nonzero(x: _Number) -> _Number:
    """0 if `x` is zero, else 1."""

def norm_huber(v: _Vector, delta: _Number = 1.0) -> _Number:
    """Half the squared length of vectors shorter than `delta`; linear in the length beyond."""

def norm_l1(v: _Vector) -> _Number:
    """The sum of the magnitudes of the components."""

def norm_l2(v: _Vector) -> _Number:
    """The Euclidean length."""

def norm_pseudo_huber(v: _Vector, delta: _Number = 1.0) -> _Number:
    """A smooth length: about `delta` near zero, the Euclidean length far beyond `delta`."""

@_overload
def normalize(a: _Quaternion) -> _Quaternion:
    """`a` scaled to length 1; zero gives the identity."""
@_overload
def normalize(a: _Vector) -> _Vector:
    """`a` scaled to length 1; the zero vector stays zero."""

def outer(a: _Vector, b: _Vector) -> _Matrix:
    """The matrix whose component `[i, j]` is `a[i] * b[j]`."""

@_overload
def pnoise(state: _Number, x: _Number, px: _Number) -> _Number:
    """Like `noise`, repeated with period `px`, for coordinates that are not negative."""
@_overload
def pnoise(state: _Number, xy: _Vector, px: _Number, py: _Number) -> _Number:
    """Like `noise`, repeated with a period for each coordinate, for coordinates that are not negative."""
@_overload
def pnoise(state: _Number, xyz: _Vector, px: _Number, py: _Number, pz: _Number) -> _Number:
    """Like `noise`, repeated with a period for each coordinate, for coordinates that are not negative."""
@_overload
def pnoise(state: _Number, xyzt: _Vector, px: _Number, py: _Number, pz: _Number, pt: _Number) -> _Number:
    """Like `noise`, repeated with a period for each coordinate, for coordinates that are not negative."""

def poisson(state: _Number, lam: _Number) -> _Number:
    """A count of the Poisson distribution of mean `lam`; advances `state` as often as needed."""

def popcount(x: _Number) -> _Number:
    """Number of bits that are one, in the type of `x`."""

def pos(x: _Number) -> _Number:
    """`+x`."""

def pow(x: _Number, y: _Number) -> _Number:
    """`x` to the power of `y`."""

def print(value: Any) -> None:
    """Prints values and a line break."""

def printf(*args: Any, **kwargs: Any) -> Any:
    """Prints by C's format rules."""

@_overload
def qr3(A: _Matrix) -> _builtins.tuple[_Matrix, _Matrix]:
    """A rotation `Q` and an upper triangular `R` whose product is `A`.

    The first two diagonal components of `R` are not negative; the third has the sign of the determinant.
    """
@_overload
def qr3(A: _Matrix, Q: _Matrix, R: _Matrix) -> None:
    """Stores a rotation `Q` and an upper triangular `R` whose product is `A`."""

def quat_between_vectors(a: _Vector, b: _Vector) -> _Quaternion:
    """The smallest rotation that turns the direction of `a` to the direction of `b`, of any lengths.

    For opposite directions it turns by pi about some axis perpendicular to `a`; it is the identity when `a` or `b`
    is zero.
    """

def quat_from_axis_angle(axis: _Vector, angle: _Number) -> _Quaternion:
    """The rotation by `angle`, in radians, about a unit vector `axis`, by the right-hand rule."""

def quat_from_euler(e: _Vector, i: _Number, j: _Number, k: _Number) -> _Quaternion:
    """The rotation by `e[i]` about axis `i`, then `e[j]` about axis `j`, then `e[k]` about axis `k`.

    `i`, `j`, `k` are 0, 1, 2, for x, y, z, in any order; axes stay fixed. Angles are in radians.
    """

def quat_from_matrix(mat: _Matrix) -> _Quaternion:
    """The unit quaternion of a rotation matrix."""

@_overload
def quat_identity() -> _Quaternion:
    """The quaternion that rotates nothing."""
@_overload
def quat_identity(dtype: _Number) -> _Quaternion:
    """The quaternion that rotates nothing."""

def quat_inverse(quat: _Quaternion) -> _Quaternion:
    """The rotation the other way: the conjugate, which is the inverse of a unit quaternion."""

def quat_rotate(quat: _Quaternion, vec: _Vector) -> _Vector:
    """A vector turned by a unit quaternion."""

def quat_rotate_inv(quat: _Quaternion, vec: _Vector) -> _Vector:
    """A vector turned by the inverse of a unit quaternion."""

def quat_rpy(roll: _Number, pitch: _Number, yaw: _Number) -> _Quaternion:
    """The rotation by `roll` about x, then `pitch` about y, then `yaw` about z, in radians, axes fixed."""

def quat_slerp(a: _Quaternion, b: _Quaternion, t: _Number) -> _Quaternion:
    """The rotation a fraction `t` of the way from `a` to `b`, at constant speed along the shorter way."""

@_overload
def quat_to_axis_angle(quat: _Quaternion) -> _builtins.tuple[_Vector, _Number]:
    """The unit axis and the angle, from 0 to pi, of a rotation. No rotation has axis zero."""
@_overload
def quat_to_axis_angle(quat: _Quaternion, axis: _Vector, angle: _Number) -> None:
    """Stores the unit axis and the angle, from 0 to pi, of a rotation. No rotation has axis zero."""

def quat_to_euler(q: _Quaternion, i: _Number, j: _Number, k: _Number) -> _Vector:
    """The angles, in radians, that `quat_from_euler` makes `q` of: component `i` is the angle about axis `i`.

    `i`, `j`, `k` are 0, 1, 2, for x, y, z, in any order. The angle about `j` is from -pi/2 to pi/2, the others
    are not limited to one turn. Where only their sum or difference is determined, the angle about `i` is zero.
    """

def quat_to_matrix(quat: _Quaternion) -> _Matrix:
    """The rotation matrix of a unit quaternion."""

def quat_to_rpy(q: _Quaternion) -> _Vector:
    """Roll, pitch and yaw, in radians, of a unit quaternion; the opposite of `quat_rpy`."""

def quat_twist(axis: _Vector, q: _Quaternion) -> _Quaternion:
    """The part of a rotation that turns about a unit vector `axis`."""

def quat_twist_angle(axis: _Vector, q: _Quaternion) -> _Number:
    """The magnitude, in radians, of the part of a rotation that turns about a unit vector `axis`."""

def quat_twist_angle_signed(axis: _Vector, q: _Quaternion) -> _Number:
    """The angle, in radians and signed by the right-hand rule, by which a rotation turns about `axis`."""

@_overload
def quaternion(x: _Number, y: _Number, z: _Number, w: _Number) -> _Quaternion:
    """A quaternion from x, y, z, w, or from a vector and a real part."""
@_overload
def quaternion(ijk: _Vector, real: _Number) -> _Quaternion:
    """A quaternion from x, y, z, w, or from a vector and a real part."""
@_overload
def quaternion(quat: _Quaternion) -> _Quaternion:
    """A quaternion from x, y, z, w, or from a vector and a real part."""

def radians(x: _Number) -> _Number:
    """An angle in degrees turned into radians."""

@_overload
def rand_init(seed: _Number) -> _Number:
    """The state of a sequence of random numbers."""
@_overload
def rand_init(seed: _Number, offset: _Number) -> _Number:
    """The state of one of many sequences of a seed: give each thread its own `offset`."""

@_overload
def randf(state: _Number) -> _Number:
    """A number from 0 to before 1, a multiple of 2**-24; advances `state`."""
@_overload
def randf(state: _Number, low: _Number, high: _Number) -> _Number:
    """A number from `low` to `high`; advances `state`."""

@_overload
def randi(state: _Number) -> _Number:
    """A whole number, all of `int32` equally likely; advances `state`."""
@_overload
def randi(state: _Number, low: _Number, high: _Number) -> _Number:
    """A whole number from `low` to before `high`; advances `state`."""

def randn(state: _Number) -> _Number:
    """A number of the normal distribution of mean 0 and variance 1; advances `state` twice."""

@_overload
def randu(state: _Number) -> _Number:
    """A whole number, all of `uint32` equally likely; advances `state`."""
@_overload
def randu(state: _Number, low: _Number, high: _Number) -> _Number:
    """A whole number from `low` to before `high`; advances `state`."""

def range(*args: Any, **kwargs: Any) -> Any:
    """The numbers of a `for` loop."""

def reversed(*args: Any, **kwargs: Any) -> Any:
    """The numbers of a `range(...)` from the last to the first, for a `for` loop."""

def rint(x: _Number) -> _Number:
    """Nearest whole number, halves to even."""

def round(x: _Number) -> _Number:
    """Nearest whole number, halves away from zero."""

@_overload
def rshift(a: _Number, b: _Number) -> _Number:
    """`a >> b`."""
@_overload
def rshift(a: _Vector, b: _Vector) -> _Vector:
    """`a >> b`."""

def rsqrt(x: _Number) -> _Number:
    """One over the square root."""

def sample_cdf(state: _Number, cdf: array) -> _Number:
    """An index drawn with the distribution whose running sums are `cdf`; advances `state`."""

def sample_triangle(state: _Number) -> _Vector:
    """Two barycentric coordinates of a point drawn evenly from a triangle; advances `state` twice."""

def sample_unit_cube(state: _Number) -> _Vector:
    """A point drawn evenly from the cube of side 1 around the origin; advances `state` three times."""

def sample_unit_disk(state: _Number) -> _Vector:
    """A point drawn evenly from the disk of radius 1; advances `state` twice."""

def sample_unit_hemisphere(state: _Number) -> _Vector:
    """A point drawn evenly from the half ball of radius 1 above z = 0; advances `state` three times."""

def sample_unit_hemisphere_surface(state: _Number) -> _Vector:
    """A unit vector with z not negative, all directions equally likely; advances `state` twice."""

def sample_unit_ring(state: _Number) -> _Vector:
    """A point drawn evenly from the circle of radius 1; advances `state`."""

def sample_unit_sphere(state: _Number) -> _Vector:
    """A point drawn evenly from the ball of radius 1; advances `state` three times."""

def sample_unit_sphere_surface(state: _Number) -> _Vector:
    """A unit vector, all directions equally likely; advances `state` twice."""

def sample_unit_square(state: _Number) -> _Vector:
    """A point drawn evenly from the square of side 1 around the origin; advances `state` twice."""

def select(cond: _Number, value_if_false: Any, value_if_true: Any) -> Any:
    """`value_if_true` where `cond`, else `value_if_false`; both are evaluated."""

@_overload
def sign(x: _Number) -> _Number:
    """-1 for negative `x`, else 1; zero counts as positive."""
@_overload
def sign(x: _Vector) -> _Vector:
    """-1 for each negative component, else 1."""

def sin(x: _Number) -> _Number:
    """Sine of an angle in radians."""

def sinh(x: _Number) -> _Number:
    """Hyperbolic sine."""

def skew(vec: _Vector) -> _Matrix:
    """The matrix whose product with a vector `x` is `cross(vec, x)`."""

def smooth_normalize(v: _Vector, delta: _Number = 1.0) -> _Vector:
    """`v` divided by its smooth length `norm_pseudo_huber(v, delta)`; differentiable at zero."""

def smoothstep(a: _Number, b: _Number, x: _Number) -> _Number:
    """0 up to `a`, 1 from `b`, and a cubic with flat ends in between."""

def spatial_adjoint(r: _Matrix, s: _Matrix) -> _Matrix:
    """The 6 x 6 matrix with `r` in both diagonal blocks and `s` below the diagonal."""

def spatial_bottom(svec: _Vector) -> _Vector:
    """The linear part: the last three components."""

def spatial_cross(a: _Vector, b: _Vector) -> _Vector:
    """The rate of change of a motion vector `b` that moves with velocity `a`."""

def spatial_cross_dual(a: _Vector, b: _Vector) -> _Vector:
    """The rate of change of a force vector `b` that moves with velocity `a`."""

def spatial_dot(a: _Vector, b: _Vector) -> _Number:
    """The sum of the products of components."""

def spatial_top(svec: _Vector) -> _Vector:
    """The angular part: the first three components."""

def sqrt(x: _Number) -> _Number:
    """Square root."""

def step(x: _Number) -> _Number:
    """1 for negative `x`, else 0."""

@_overload
def store(arr: array, i: _Number, value: Any) -> None:
    """Writes through a reference."""
@_overload
def store(arr: array, i: _Number, j: _Number, value: Any) -> None:
    """Writes through a reference."""
@_overload
def store(arr: array, i: _Number, j: _Number, k: _Number, value: Any) -> None:
    """Writes through a reference."""
@_overload
def store(arr: array, i: _Number, j: _Number, k: _Number, l: _Number, value: Any) -> None:
    """Writes through a reference."""

@_overload
def sub(a: _Number, b: _Number) -> _Number:
    """`a - b`."""
@_overload
def sub(a: _Vector, b: _Vector) -> _Vector:
    """`a - b`."""

@_overload
def svd2(A: _Matrix) -> _builtins.tuple[_Matrix, _Vector, _Matrix]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    The components of `sigma` are not negative, the larger one first. `V` is a rotation.
    """
@_overload
def svd2(A: _Matrix, U: _Matrix, sigma: _Vector, V: _Matrix) -> None:
    """Stores the singular value decomposition of `A`: `A = U @ diag(sigma) @ transpose(V)`."""

@_overload
def svd3(A: _Matrix) -> _builtins.tuple[_Matrix, _Vector, _Matrix]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    `U` and `V` are rotations. `sigma` goes from large to small; its last component has the determinant's sign.
    """
@_overload
def svd3(A: _Matrix, U: _Matrix, sigma: _Vector, V: _Matrix) -> None:
    """Stores the singular value decomposition of `A`: `A = U @ diag(sigma) @ transpose(V)`."""

def tan(x: _Number) -> _Number:
    """Tangent of an angle in radians."""

def tanh(x: _Number) -> _Number:
    """Hyperbolic tangent."""

def tid() -> _Number:
    """This thread's index: one number, or as many as are unpacked."""

def trace(a: _Matrix) -> _Number:
    """The sum of the diagonal."""

def transform_compose(position: _Vector, rotation: _Quaternion, scale: _Vector) -> _Matrix:
    """The matrix that scales along the axes, then rotates, then moves."""

def transform_decompose(m: _Matrix) -> _builtins.tuple[_Vector, _Quaternion, _Vector]:
    """The position, rotation and scale that `transform_compose` makes `m` of; the scale is not negative."""

def transform_from_matrix(mat: _Matrix) -> _Transform:
    """The rigid transform of a matrix without scale."""

def transform_get_rotation(xform: _Transform) -> _Quaternion:
    """The rotation."""

def transform_get_translation(xform: _Transform) -> _Vector:
    """The position."""

@_overload
def transform_identity() -> _Transform:
    """The transform that moves nothing."""
@_overload
def transform_identity(dtype: _Number) -> _Transform:
    """The transform that moves nothing."""

def transform_inverse(xform: _Transform) -> _Transform:
    """The transform that undoes `xform`."""

def transform_multiply(a: _Transform, b: _Transform) -> _Transform:
    """The transform that does `b` first, then `a`."""

@_overload
def transform_point(xform: _Transform, point: _Vector) -> _Vector:
    """A point rotated, then moved."""
@_overload
def transform_point(mat: _Matrix, point: _Vector) -> _Vector:
    """The first three components of the product of `mat` with `point` and a fourth component 1."""

def transform_set_rotation(xform: _Transform, q: _Quaternion) -> None:
    """Replaces the rotation."""

def transform_set_rotation_copy(xform: _Transform, q: _Quaternion) -> _Transform:
    """The transform with another rotation."""

def transform_set_translation(xform: _Transform, p: _Vector) -> None:
    """Replaces the position."""

def transform_set_translation_copy(xform: _Transform, p: _Vector) -> _Transform:
    """The transform with another position."""

def transform_to_matrix(xform: _Transform) -> _Matrix:
    """The 4 x 4 matrix of a rigid transform."""

def transform_twist(t: _Transform, x: _Vector) -> _Vector:
    """A velocity given in the frame of `t`, in the frame that `t` leads to."""

@_overload
def transform_vector(xform: _Transform, vec: _Vector) -> _Vector:
    """A direction rotated; the position has no effect on it."""
@_overload
def transform_vector(mat: _Matrix, vec: _Vector) -> _Vector:
    """The first three components of the product of `mat` with `vec` and a fourth component 0."""

def transform_wrench(t: _Transform, x: _Vector) -> _Vector:
    """A torque and force given in the frame of `t`, in the frame that `t` leads to."""

@_overload
def transformation(p: _Vector) -> _Transform:
    """A rigid transform from a position and a rotation."""
@_overload
def transformation(p: _Vector, q: _Quaternion) -> _Transform:
    """A rigid transform from a position and a rotation."""

def transpose(a: _Matrix) -> _Matrix:
    """The matrix with rows and columns exchanged."""

def trunc(x: _Number) -> _Number:
    """`x` without its fraction."""

def tuple(*args: Any, **kwargs: Any) -> Any:
    """A tuple of values."""

def type(*args: Any, **kwargs: Any) -> Any:
    """The type of a value, usable as a constructor."""

def unot(a: _Number) -> _builtins.bool:
    """`not a`."""

def vector(*args: Any, **kwargs: Any) -> Any:
    """A vector from its components or one value for all."""

def velocity_at_point(qd: _Vector, r: _Vector) -> _Vector:
    """The linear velocity at offset `r` from the origin of a body that moves with `qd`."""

def view(arr: array, i: _Number) -> array:
    """The sub-array at leading indices."""

def where(cond: _Number, value_if_true: Any, value_if_false: Any) -> Any:
    """`value_if_true` where `cond`, else `value_if_false`; both are evaluated."""
