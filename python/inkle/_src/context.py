"""Devices, kernels, functions, modules and launches."""

from inkle._planned import absent

__getattr__ = absent("inkle._src.context")
