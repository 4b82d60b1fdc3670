"""The exceptions of kernels that are wrong."""

from inkle import CompileError

WarpCodegenError = CompileError
WarpCodegenAttributeError = CompileError
WarpCodegenKeyError = CompileError
WarpCodegenTypeError = CompileError
WarpCodegenValueError = CompileError
