"""The ONNX Runtime operator that runs graph files: ``Replay`` of the domain ``ai.inkle``.

Its first input is ``bundle``, a constant ``uint8`` tensor with the bytes of a file that ``capture_save`` wrote; then come
the file's inputs, in its order, and its outputs are the file's. Arrays of vectors and matrices are tensors with more
dimensions. The operator is a function of its inputs: every run starts from the memory that the file has. The model has to
have the outputs' types, as ``value_info`` or as outputs of its own; the attribute ``outputs``
(``describe(bundle)["signature"]``) is optional and is compared with the file.

    options = onnxruntime.SessionOptions()
    inkle.onnx.register(options)
    session = onnxruntime.InferenceSession("policy.onnx", options)

In a program without inkle's package, ``options.register_custom_ops_library`` with the file at :func:`library_path` does the
same.
"""

from inkle._operators import describe
from inkle._operators import library_path as _library_path

__all__ = ["DOMAIN", "OP_TYPE", "VERSION", "describe", "library_path", "register"]

DOMAIN = "ai.inkle"
OP_TYPE = "Replay"
VERSION = 1

_LIBRARY = "libinkle_onnx.so"


def library_path():
    """The path of the library with the operator.

    Raises:
        FileNotFoundError: If it is not there.
    """
    return _library_path(_LIBRARY)


def register(session_options):
    """Lets sessions that are made with ``session_options`` run models that have the operator.

    Raises:
        FileNotFoundError: If the library is not there.
    """
    session_options.register_custom_ops_library(library_path())
