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
