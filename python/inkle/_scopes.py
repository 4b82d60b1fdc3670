"""Context managers that set something for the statements inside and set it back afterwards."""

import time

from inkle import _native


class ScopedDevice:
    """Makes a device the default one inside a ``with`` statement; ``None`` keeps the default device."""

    def __init__(self, device):
        self.device = _native.get_device(device)

    def __enter__(self):
        self.saved_device = _native.get_device()
        _native.set_device(self.device)
        return self.device

    def __exit__(self, exc_type, exc_value, traceback):
        _native.set_device(self.saved_device)


class ScopedStream:
    """Makes a stream current on its device inside a ``with`` statement, and its device the default one.

    ``sync_enter``: the stream first waits for the one that was current. ``sync_exit``: afterwards the one that was
    current waits for the stream. ``None`` changes nothing.
    """

    def __init__(self, stream, sync_enter=True, sync_exit=False):
        self.stream = stream
        self.sync_enter = sync_enter
        self.sync_exit = sync_exit
        self.device = stream.device if stream is not None else None

    def __enter__(self):
        if self.stream is not None:
            self._device_scope = ScopedDevice(self.device)
            self._device_scope.__enter__()
            self.saved_stream = self.device.stream
            self.device.set_stream(self.stream, self.sync_enter)
        return self.stream

    def __exit__(self, exc_type, exc_value, traceback):
        if self.stream is not None:
            self.device.set_stream(self.saved_stream, self.sync_exit)
            self._device_scope.__exit__(exc_type, exc_value, traceback)


class ScopedMempool:
    """Turns the memory pool of a device on or off inside a ``with`` statement."""

    def __init__(self, device, enable):
        self.device = _native.get_device(device)
        self.enable = enable

    def __enter__(self):
        self.saved_setting = _native.is_mempool_enabled(self.device)
        if self.device.is_cuda:
            _native.set_mempool_enabled(self.device, self.enable)

    def __exit__(self, exc_type, exc_value, traceback):
        if self.device.is_cuda:
            _native.set_mempool_enabled(self.device, self.saved_setting)


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

    enabled = True
    indent = -1

    def __init__(
        self,
        name,
        active=True,
        print=True,
        detailed=False,
        dict=None,
        use_nvtx=False,
        color="rapids",
        synchronize=False,
        cuda_filter=0,
        report_func=None,
        skip_tape=False,
    ):
        self.name = name
        self.active = active and self.enabled
        self.print = print
        self.detailed = detailed
        self.dict = dict
        self.use_nvtx = use_nvtx
        self.color = color
        self.synchronize = synchronize
        self.cuda_filter = cuda_filter
        self.report_func = report_func
        self.skip_tape = skip_tape
        self.elapsed = 0.0
        self.timing_results = []
        self.extra_msg = ""
        if dict is not None:
            dict.setdefault(name, [])

    def __enter__(self):
        if self.active:
            if self.synchronize:
                _native.synchronize()
            if self.detailed:
                import cProfile

                self.cp = cProfile.Profile()
                self.cp.enable()
            ScopedTimer.indent += 1
            self.start = time.perf_counter_ns()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if not self.active:
            return
        if self.synchronize:
            _native.synchronize()
        self.elapsed = (time.perf_counter_ns() - self.start) / 1e6
        if self.detailed:
            self.cp.disable()
            self.cp.print_stats(sort="tottime")
        if self.dict is not None:
            self.dict[self.name].append(self.elapsed)
        indent = "    " * ScopedTimer.indent
        if self.report_func is not None:
            self.report_func(self.timing_results, indent)
        elif self.print:
            suffix = f" {self.extra_msg}" if self.extra_msg else ""
            print(f"{indent}{self.name} took {self.elapsed:.2f} ms{suffix}")
        ScopedTimer.indent -= 1


def is_peer_access_enabled(target_device, peer_device):
    """Whether ``peer_device`` can reach the memory of ``target_device``: inkle does not turn that on yet."""
    _native.get_device(target_device)
    _native.get_device(peer_device)
    return False


def is_mempool_access_enabled(target_device, peer_device):
    """As ``is_peer_access_enabled``, for the memory pool of ``target_device``."""
    return is_peer_access_enabled(target_device, peer_device)


def is_mempool_access_supported(target_device, peer_device):
    """Whether access to the memory pool of ``target_device`` can be turned on: not yet."""
    return is_peer_access_enabled(target_device, peer_device)
