"""Helpers around kernels."""

from inkle._scopes import ScopedDevice, ScopedMempool, ScopedStream, ScopedTimer

__all__ = ["ScopedDevice", "ScopedMempool", "ScopedStream", "ScopedTimer"]
