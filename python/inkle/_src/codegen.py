"""The exceptions of kernels that are wrong."""

from inkle import CompileError
from inkle._planned import absent

WarpCodegenError = CompileError
WarpCodegenAttributeError = CompileError
WarpCodegenIndexError = CompileError
WarpCodegenKeyError = CompileError
WarpCodegenTypeError = CompileError
WarpCodegenValueError = CompileError

__getattr__ = absent("inkle._src.codegen")
