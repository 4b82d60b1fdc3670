"""Devices, kernels, functions, modules and launches."""

from inkle import (
    Device,
    Event,
    Function,
    Kernel,
    Launch,
    Module,
    Stream,
    get_device,
    get_module,
    init,
    launch,
    synchronize,
    synchronize_device,
)
from inkle._planned import absent

__getattr__ = absent("inkle._src.context")
