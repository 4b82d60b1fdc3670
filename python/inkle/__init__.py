"""inkle: kernels written as Python functions, compiled in milliseconds for CPUs and NVIDIA GPUs.

The API is that of NVIDIA Warp: ``import inkle as wp``. Types, built-ins and rarely used parts are made when they are
first asked for, so importing the package costs little.
"""

from sys import modules as _modules

from inkle import config
from inkle._arrays import (
    array1d,
    array2d,
    array3d,
    array4d,
    fabricarrayarray,
    fixedarray,
    indexedarray1d,
    indexedarray2d,
    indexedarray3d,
    indexedarray4d,
    indexedfabricarrayarray,
)
from inkle._capture import CaptureMode, ScopedCapture
from inkle._custom_gradients import func_grad, func_replay
from inkle._logger import (
    LOG_DEBUG,
    LOG_ERROR,
    LOG_INFO,
    LOG_WARNING,
    Logger,
    ScopedLogger,
    ScopedLogLevel,
    get_logger,
    set_logger,
)
from inkle._native import (
    ArgumentError,
    Builtin,
    CompileAttributeError,
    CompileError,
    CompileNameError,
    CompileTypeError,
    Device,
    Event,
    Function,
    Graph,
    Kernel,
    Launch,
    Module,
    OutOfMemoryError,
    RangeError,
    Stream,
    array,
    builtin,
    builtin_names,
    capture_begin,
    capture_debug_dot_print,
    capture_end,
    capture_if,
    capture_launch,
    capture_load,
    capture_load_from_bytes,
    capture_pause,
    capture_resume,
    capture_save,
    capture_while,
    clear_kernel_cache,
    clear_lto_cache,
    clone,
    compile_aot_module,
    constant,
    copy,
    dtype_from_numpy,
    dtype_to_numpy,
    empty,
    empty_like,
    fabricarray,
    force_load,
    from_dlpack,
    from_numpy,
    from_ptr,
    full,
    full_like,
    func,
    func_native,
    get_cuda_device,
    get_cuda_device_count,
    get_cuda_devices,
    get_cuda_driver_version,
    get_cuda_supported_archs,
    get_device,
    get_devices,
    get_event_elapsed_time,
    get_mempool_release_threshold,
    get_mempool_used_mem_current,
    get_mempool_used_mem_high,
    get_module,
    get_module_options,
    get_preferred_device,
    get_stream,
    get_suggested_block_size,
    indexedarray,
    indexedfabricarray,
    is_conditional_graph_supported,
    is_cpu_available,
    is_cuda_available,
    is_device_available,
    is_mempool_enabled,
    is_mempool_supported,
    is_peer_access_supported,
    kernel,
    launch,
    load_aot_module,
    load_module,
    named_type,
    ones,
    ones_like,
    overload,
    record_event,
    ref,
    set_device,
    set_mempool_enabled,
    set_mempool_release_threshold,
    set_module_options,
    set_stream,
    struct,
    synchronize,
    synchronize_device,
    synchronize_event,
    synchronize_stream,
    to_dlpack,
    type_names,
    version,
    wait_event,
    wait_stream,
    zeros,
    zeros_like,
)
from inkle._scopes import (
    ScopedDevice,
    ScopedMempool,
    ScopedStream,
    ScopedTimer,
    is_mempool_access_enabled,
    is_mempool_access_supported,
    is_peer_access_enabled,
)

__version__ = version

DeterministicMode = config.DeterministicMode
MemoryKind = config.MemoryKind

# The values double precision has room for; kernels round them to the type they need.
e = E = 2.718281828459045
log2e = LOG2E = 1.4426950408889634
log10e = LOG10E = 0.4342944819032518
ln2 = LN2 = 0.6931471805599453
ln10 = LN10 = 2.302585092994046
phi = PHI = 1.618033988749895
pi = PI = 3.141592653589793
half_pi = HALF_PI = 1.5707963267948966
tau = TAU = 6.283185307179586
inf = INF = float("inf")
nan = NAN = float("nan")

# The names the reference API has for kinds of mistakes in kernels.
WarpCodegenError = WarpCodegenIndexError = CompileError
WarpCodegenAttributeError = CompileAttributeError
WarpCodegenKeyError = CompileNameError
WarpCodegenTypeError = WarpCodegenValueError = CompileTypeError

TIMING_KERNEL, TIMING_KERNEL_BUILTIN, TIMING_MEMCPY, TIMING_MEMSET, TIMING_GRAPH = 1, 2, 4, 8, 16
TIMING_ALL = 0xFFFFFFFF

_LAZY_MODULES = ("autograd", "fem", "geometry", "optim", "render", "sparse", "types", "utils")

_TORCH = (
    "device_from_torch",
    "device_to_torch",
    "dtype_from_torch",
    "dtype_to_torch",
    "from_torch",
    "stream_from_torch",
    "stream_to_torch",
    "to_torch",
)

# Types that inkle does not have yet and that annotations use: what is declared with them fails when it is used.
_ANNOTATIONS = (
    "Bvh",
    "BvhQuery",
    "HashGrid",
    "HashGridQuery",
    "Mesh",
    "MeshQuery",
    "MeshQueryAABB",
    "MeshQueryPoint",
    "MeshQueryRay",
    "Texture1D",
    "Texture2D",
    "Texture3D",
    "Volume",
    "tile",
    "tile_stack",
)

# What the reference API has and inkle does not have yet, so that a missing feature is not taken for a typing mistake.
_PLANNED = frozenset(
    """
    Allocator Bvh BvhQuery BvhQueryTiled CudaManagedAllocator GLTextureResource HashGrid
    HashGridQuery JaxCallableGraphMode JaxModulePreloadMode MarchingCubes  Mesh MeshQuery MeshQueryAABB
    MeshQueryAABBTiled MeshQueryPoint MeshQueryRay ModuleBuildOptions RegisteredGLBuffer ScopedAllocator
    ScopedCudaProfiler ScopedMemoryTracker ScopedMempoolAccess ScopedPeerAccess Texture
    Texture1D Texture2D Texture3D TextureAddressMode TextureFilterMode TextureResourceFlags TimingResult Volume
    build_experimental can_access
    clear_jax_callable_graph_cache
    cuda_profiler_start cuda_profiler_stop device_from_jax device_from_paddle
    device_to_jax device_to_paddle dtype_from_jax dtype_from_paddle dtype_to_jax dtype_to_paddle event_from_ipc_handle
    from_ipc_handle from_jax from_paddle
    get_cpu_kernel_cache_key get_cuda_kernel_properties get_cuda_max_cluster_dim
    get_cuda_toolkit_version get_device_allocator is_cubql_available
    jax_callable jax_kernel launch_tiled map_cuda_device print_memory_report set_cuda_allocator
    set_device_allocator set_mempool_access_enabled set_peer_access_enabled stream_from_paddle tile
    tile_stack timing_begin timing_end timing_print to_jax to_paddle unmap_cuda_device
    """.split()
)


if "IPython" in _modules:
    from inkle import _notebook

    _notebook.watch()


def transform_expand(t):
    """The transform whose position and quaternion are the seven numbers of the sequence `t`."""
    return named_type("transform")(*t)


def init():
    """Nothing to do: inkle starts when it is first used."""


def static(expr):
    """In a kernel: the value of a Python expression, worked out when the kernel is compiled. Here: the value."""
    return expr


def _generic_scalars():
    from typing import TypeVar

    floats = [named_type(n) for n in ("float16", "bfloat16", "float32", "float64")]
    ints = [named_type(n) for n in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")]
    return {
        "Float": TypeVar("Float", *floats),
        "Int": TypeVar("Int", *ints),
        "Scalar": TypeVar("Scalar", *floats, *ints),
    }


def _find(name):
    found = named_type(name)
    if found is None:
        found = builtin(name)
    if found is None and name in ("Float", "Int", "Scalar"):
        found = _generic_scalars()[name]
    if found is None and name == "DeviceLike":
        from typing import Union

        found = Union[Device, str, None]  # noqa: UP007 - a plain `|` with a string does not evaluate
    if found is None and name == "map":
        from inkle._map import map as found
    if found is None and name == "print_diagnostics":
        from inkle._diagnostics import print_diagnostics as found
    if found is None and name in _ANNOTATIONS:
        from inkle._planned import Absent

        found = Absent(f"inkle.{name}")
    if found is None and name in _TORCH:
        from inkle import _torch

        found = getattr(_torch, name)
    if found is None and (name in _LAZY_MODULES or name == "_src"):
        from importlib import import_module

        found = import_module(f"inkle.{name}")
    if found is None and name == "Tape":
        from inkle._tape import Tape as found
    return found


def __getattr__(name):
    if name == "__all__":
        import builtins

        # `from inkle import *` leaves Python's own functions alone, but for these, which kernels' versions extend.
        public = (n for n in __dir__() if not n.startswith("_"))
        return [n for n in public if not hasattr(builtins, n) or n in ("abs", "bool", "max", "min", "round")]
    found = None if name.startswith("__") else _find(name)
    if found is None:
        planned = "; the reference API has it, but it is not available in inkle yet" if name in _PLANNED else ""
        raise AttributeError(f"module 'inkle' has no attribute '{name}'{planned}")
    globals()[name] = found
    return found


def __dir__():
    found = ("DeviceLike", "Float", "Int", "Scalar", "Tape", "map", "print_diagnostics")
    return sorted({*globals(), *builtin_names(), *type_names(), *_LAZY_MODULES, *_TORCH, *found})
