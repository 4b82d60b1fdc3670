"""Captures of graphs as context managers."""

import enum

from inkle import _native


class CaptureMode(enum.IntEnum):
    """How strict the CUDA driver is, during a capture, about calls that cannot be captured."""

    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


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

    def __init__(
        self,
        device=None,
        stream=None,
        force_module_load=None,
        external=False,
        apic=False,
        capture_mode=CaptureMode.THREAD_LOCAL,
    ):
        self.device = stream.device if stream is not None else _native.get_device(device)
        self.stream = stream
        self.force_module_load = force_module_load
        self.external = external
        self.apic = apic
        self.capture_mode = capture_mode
        self.active = False
        self.graph = None

    def __enter__(self):
        _native.capture_begin(
            device=self.device,
            stream=self.stream,
            force_module_load=self.force_module_load,
            external=self.external,
            apic=self.apic,
            capture_mode=self.capture_mode,
        )
        self.active = True
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.active = False
        if exc_type is None:
            self.graph = _native.capture_end(device=self.device, stream=self.stream)
        else:
            _native.capture_abandon(device=self.device, stream=self.stream)
