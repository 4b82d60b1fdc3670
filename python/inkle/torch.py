"""The PyTorch operator that runs graph files: ``torch.ops.inkle.replay(bundle, inputs, outputs="")``.

``bundle`` is a ``uint8`` tensor with the bytes of a file that ``capture_save`` wrote. The operator is a function of its
inputs: every call starts from the memory that the file has. Inputs and outputs are the file's, in its order; arrays of
vectors and matrices are tensors with more dimensions. Tensors may be on the CPU or on a GPU, where the work goes to
PyTorch's current stream.

In a program without inkle's package, ``torch.ops.load_library`` of the file at :func:`library_path` is enough to run
models that have the operator. Making such models, with ``torch.export``, takes :func:`load`, and the types of the outputs
as the operator's last argument (``describe(bundle)["signature"]``).

The library also has kernels for ``leapp::warp_runner``, the operator of models that LEAPP exported: see :func:`load_leapp`.
"""

import ctypes

from inkle import _native
from inkle._operators import describe
from inkle._operators import library_path as _library_path

__all__ = ["describe", "library_path", "load", "load_leapp"]

_LIBRARY = "libinkle_torch.so"
_OLDEST = (2, 10)

_loaded = False


def library_path():
    """The path of the library with the operator.

    Raises:
        FileNotFoundError: If it is not there.
    """
    return _library_path(_LIBRARY)


def load():
    """Makes ``torch.ops.inkle.replay`` available, for running and for ``torch.export``. Again does nothing.

    Raises:
        FileNotFoundError: If the library is not there.
        ImportError: If PyTorch is not there, or too old.
    """
    global _loaded
    if _loaded:
        return
    import torch

    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < _OLDEST:
        raise ImportError(
            f"the operator inkle::replay needs PyTorch {_OLDEST[0]}.{_OLDEST[1]} or newer, this is {torch.__version__}"
        )
    # Another copy of the library may be there already.
    if not hasattr(torch.ops.inkle, "replay"):
        library = _library()
        if problem := _told(library.inkle_torch_load_problem):
            raise ImportError(f"{problem} (library: {library._name})")
    torch.library.register_fake("inkle::replay", _fake)
    torch.library.register_autograd("inkle::replay", _no_gradients)
    _loaded = True


def load_leapp():
    """Makes ``torch.ops.leapp.warp_runner`` available: models that LEAPP exported as ``.pt2`` run here, on an NVIDIA GPU, with
    neither LEAPP nor Warp. Again does nothing.

    Programs that import LEAPP need not call it: LEAPP loads the library that the environment variable
    ``LEAPP_WARP_PT2_CUSTOM_OP_LIBRARY`` names, which may be the one at :func:`library_path`.
    LEAPP imported after this was called could not export any more.

    Raises:
        FileNotFoundError: If the library is not there.
        ImportError: If PyTorch is not there, or too old.
    """
    load()
    import torch

    if not hasattr(torch.ops.leapp, "warp_runner"):
        library = _library()
        if problem := _told(library.inkle_torch_define_leapp):
            raise ImportError(f"leapp::warp_runner is not available: {problem} (library: {library._name})")


def _library():
    """The library, loaded into PyTorch."""
    import torch

    path = library_path()
    torch.ops.load_library(path)
    return ctypes.CDLL(path)


def _told(ask):
    """What a function of the library without arguments says."""
    ask.restype = ctypes.c_char_p
    return ask().decode()


def _fake(bundle, inputs, outputs=""):
    """The outputs' types: while a model is traced, the bundle has no contents to read them from."""
    import torch

    if not outputs:
        raise RuntimeError(
            "inkle::replay: tracing needs the types of the outputs as the last argument: "
            'pass inkle.torch.describe(bundle)["signature"]'
        )
    device = inputs[0].device if inputs else torch.device("cpu")
    types = _native.parse_signature(outputs)
    return [torch.empty(shape, dtype=getattr(torch, dtype), device=device) for dtype, shape in types]


def _no_gradients(context, *gradients):
    raise RuntimeError(
        "inkle::replay: gradients do not flow through the operator; call it on tensors that are detached, or record the "
        "kernels with inkle.Tape"
    )
