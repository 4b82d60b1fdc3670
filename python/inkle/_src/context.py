"""Devices, kernels, functions, modules and launches."""

import inkle
from inkle._diagnostics import (  # noqa: F401 - their names are here
    get_libmathdx_version,
    get_llvm_version,
    get_nvrtc_version,
    get_warp_clang_version,
    get_warp_version,
)
from inkle._logger import log_warning  # noqa: F401 - programs replace it here
from inkle._planned import absent

_missing = absent("inkle._src.context")


def _is_graph_capture_allocation_supported(device):
    """Whether arrays can be made while a graph is captured."""
    inkle.get_device(device)
    return True


class _Core:
    """What programs ask of the native library: whether it prints failures. inkle's raises them as exceptions only."""

    def wp_is_error_output_enabled(self):
        return False

    def wp_set_error_output_enabled(self, enabled):
        pass


class _Runtime:
    """The part of the runtime's inner object that programs use."""

    core = _Core()

    def __getattr__(self, name):
        return getattr(_missing("runtime"), name)


runtime = _Runtime()


def __getattr__(name):
    if name == "builtin_functions":
        return {known: inkle.builtin(known) for known in inkle.builtin_names()}
    return getattr(inkle, name) if not name.startswith("_") and hasattr(inkle, name) else _missing(name)
