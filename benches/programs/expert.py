"""The library of `benches/expert`, whose path the environment names as `BENCH_EXPERT`, called with arrays on the CPU."""

import ctypes
import os

_SIZE, _ADDRESS, _FLOAT, _INT, _BOOL = (
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_float,
    ctypes.c_int,
    ctypes.c_bool,
)


class Expert:
    """What an expert wrote by hand. Arrays are those of the module that is measured, so both touch the same memory."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.expert_available.restype = _BOOL
        for name, types in {
            "saxpy": (_SIZE, _ADDRESS, _ADDRESS, _FLOAT),
            "triad": (_SIZE, _ADDRESS, _ADDRESS, _ADDRESS, _FLOAT, _BOOL),
            "map": (_SIZE, _ADDRESS, _ADDRESS, _BOOL),
            "nbody": (_SIZE, _ADDRESS, _ADDRESS, _ADDRESS, _FLOAT, _BOOL),
            "mandelbrot": (_SIZE, _SIZE, _FLOAT, _FLOAT, _FLOAT, _INT, _ADDRESS),
            "stencil": (_SIZE * 3, _ADDRESS, _ADDRESS, _FLOAT, _BOOL),
            "search": (_SIZE, _ADDRESS, _SIZE, _ADDRESS, _ADDRESS),
            "histogram": (_SIZE, _ADDRESS, _SIZE, _ADDRESS),
        }.items():
            function = getattr(self._library, f"expert_{name}")
            function.argtypes, function.restype = types, None

    @property
    def available(self):
        """Whether this machine can run it."""
        return self._library.expert_available()

    def saxpy(self, x, y, a):
        self._library.expert_saxpy(x.size, x.ptr, y.ptr, a)

    def triad(self, x, y, out, a, past):
        self._library.expert_triad(x.size, x.ptr, y.ptr, out.ptr, a, past)

    def map(self, x, y, past):
        self._library.expert_map(x.size, x.ptr, y.ptr, past)

    def nbody(self, position, velocity, result, dt, fast):
        self._library.expert_nbody(position.shape[0], position.ptr, velocity.ptr, result.ptr, dt, fast)

    def mandelbrot(self, x, y, step, limit, out):
        self._library.expert_mandelbrot(out.shape[1], out.shape[0], x, y, step, limit, out.ptr)

    def stencil(self, u, out, a, past):
        self._library.expert_stencil((_SIZE * 3)(*u.shape), u.ptr, out.ptr, a, past)

    def search(self, table, values, out):
        self._library.expert_search(table.size, table.ptr, values.size, values.ptr, out.ptr)

    def histogram(self, values, counts):
        self._library.expert_histogram(values.size, values.ptr, counts.size, counts.ptr)


def load():
    """The expert, or `None` where there is no library or no AVX-512."""
    path = os.environ.get("BENCH_EXPERT")
    expert = Expert(path) if path else None
    return expert if expert and expert.available else None
