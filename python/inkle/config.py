"""Settings of the whole process. Assign before the first launch: ``inkle.config.mode = "debug"``.

Kernels read the settings when they are compiled; a module's own options (``set_module_options``) win over these.
"""

import sys
from enum import IntEnum
from types import ModuleType


class LaunchArrayAccessMode(IntEnum):
    """How launches treat arrays of other libraries and devices."""

    RELAXED = 0
    CHECKED = 1
    STRICT = 2


class MemoryKind(IntEnum):
    """Where the elements of an array are."""

    UNKNOWN = 0
    HOST = 1
    PINNED = 2
    CUDA_DEVICE = 3
    CUDA_MEMPOOL = 4
    CUDA_MANAGED = 5


class DeterministicMode(IntEnum):
    """How far results are the same from run to run."""

    NOT_GUARANTEED = 0
    RUN_TO_RUN = 1
    GPU_TO_GPU = 2


version: str = "1.19.0"
"""The version of the API that inkle implements."""

verify_fp: bool = False
"""Kernels report floats that they write and that are not finite: printed, or an error in debug mode."""

verify_cuda: bool = False
"""Wait for each launch on a GPU and raise what went wrong there; not while a graph is captured. Slow."""

verify_autograd_array_access: bool = False
"""Warn when a launch, copy or fill changes elements that the backward pass of one that a tape recorded before needs, on the
tape or after it; slow."""

print_launches: bool = False
"""Tell the logger about each launch."""

mode: str = "release"
"""``"release"``, or ``"debug"``: an index out of bounds, a failed ``assert`` or an integer division by zero stops the kernel
and is raised, with the place and the thread; on a GPU when it is next waited for."""

optimization_level: int | None = None
"""0 to 3; ``None`` chooses by device."""

cpu_threads: int | None = None
"""How many threads a launch on the CPU may use, the caller's included; results do not depend on it, save sums of floats
by atomic updates. ``None``: what the environment variable ``INKLE_CPU_THREADS`` says, else one for each core that the
process may run on."""

verbose_warnings: bool = False
"""Show where a warning comes from."""

log_level: int = 20
"""The least level of messages that are shown: 10 debug, 20 info, 30 warning, 40 error."""

quiet: bool = False
"""Show warnings and errors only, whatever ``log_level`` is."""

verbose: bool = False
"""Show details too, whatever ``log_level`` is."""

cache_kernels: bool = True
"""Keep compiled kernels on disk."""

kernel_cache_dir: str | None = None
"""Where compiled kernels are kept; ``None`` for what the environment says (``INKLE_CACHE_PATH``, else ``inkle`` in
``WARP_CACHE_PATH``), else the user's cache directory."""

kernel_cache_limit: int | str | None = None
"""The size that the directory is kept below, in bytes or as text, ``"500 MB"``; ``"none"`` for no limit. ``None`` for
``INKLE_CACHE_LIMIT`` in the environment, else 10 GiB. The kernels not used for longest go first."""

kernel_cache_remote: str | None = None
"""A store of compiled kernels that machines share, behind the directory: another directory, or the URL of an object
store. ``None`` for ``INKLE_CACHE_REMOTE`` in the environment, else none. Code from there runs: it must be trusted."""

cuda_output: str | None = None
"""``"ptx"`` or ``"cubin"``; ``None`` chooses by device."""

ptx_target_arch: int | None = None
"""The compute capability PTX is made for; ``None`` for the device's."""

cuda_arch_suffix: str | None = None
"""A suffix of the GPU architecture, ``"a"`` or ``"f"``."""

fast_math: bool = False
"""Allow approximate functions and reassociation in floating-point arithmetic."""

fuse_fp: bool = True
"""Allow a multiplication and an addition to become one operation."""

precise_math: bool = False
"""On the CPU compute ``sin``, ``exp``, ``pow`` and the like of 32-bit floats in 64 bits and round once: slow, and right to the last
bit but for rare ties."""

block_dim: int = 256
"""Threads per block of launches that do not say."""

strip_hash: bool = False
"""Leave the hash out of the names of what is compiled ahead of time."""

lineinfo: bool = False
"""Put line numbers into GPU code, for profilers."""

line_directives: bool = True
"""Keep the places in the source with generated code."""

compile_time_trace: bool = False
"""Record how long each step of compilation takes, and write it when the program ends: ``compile-time-trace-PID.json`` in the
kernel cache, which Perfetto opens. ``INKLE_COMPILE_TIME_TRACE`` in the environment names a file and does the same."""

track_memory: bool = False
"""Keep a record of allocations."""

max_unroll: int = 16
"""Loops with at most this many iterations known at compile time are unrolled."""

enable_backward: bool = True
"""Kernels can be differentiated."""

enable_graph_capture_module_load_by_default: bool = True
"""Load kernels before a graph is captured."""

enable_mempools_at_init: bool = True
"""Use the stream-ordered memory pools of GPUs."""

enable_vector_component_overwrites: bool = False
"""Gradients through components that are assigned more than once."""

enable_cpu_blocks: bool = False
"""Blocks of more than one thread on the CPU."""

enable_tiles_in_stack_memory: bool | None = True
"""Keep tiles of CPU kernels on the stack."""

enable_mathdx_gemm: bool = True
enable_mathdx_solver: bool = True
enable_mathdx_fft: bool = True

deterministic: DeterministicMode = DeterministicMode.NOT_GUARANTEED
"""How far results are the same from run to run.

On the CPU kernels whose result depends on the order of atomic updates (sums of floats, old values that are used) run
their threads in order on one core under any mode but ``NOT_GUARANTEED``: results are the same however many threads the
machine has. On GPUs it has no effect yet.
"""

deterministic_debug: bool = False
deterministic_max_records: int = 0

default_grid_stride: bool = True
"""GPU threads loop when a launch has more threads than the grid can hold."""

launch_array_access_mode: LaunchArrayAccessMode = LaunchArrayAccessMode.RELAXED
"""How launches treat arrays of other libraries and devices."""

legacy_scalar_return_types: bool = False
"""Built-ins called from Python return plain numbers for all scalar types."""

load_module_max_workers: int | None = 0
"""How many kernels ``load_module`` compiles at once; 0 for one per core."""

cpu_compiler_flags: str | None = None
use_precompiled_headers: bool = True
legacy_cpu_linker: bool = False
llvm_cuda: bool = False


class _Config(ModuleType):
    """Notes what is assigned: kernels look at their options again at their next launch."""

    def __setattr__(self, name, value):
        if not name.startswith("_"):
            from inkle._native import setting_changes

            setting_changes(name, value)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Config
