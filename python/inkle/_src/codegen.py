"""The exceptions of kernels that are wrong."""

import inkle
from inkle._planned import absent

_missing = absent("inkle._src.codegen")


def __getattr__(name):
    return getattr(inkle, name) if name.startswith("WarpCodegen") else _missing(name)
