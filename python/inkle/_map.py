"""``map``: applies a function to every element of arrays by a kernel written for the occasion.

The kernel's text is kept where Python keeps the text of code typed in a session, so that mistakes show with it.
"""

import ast
import builtins
import inspect
import itertools
import linecache
import re
import textwrap
import types as _python_types
from typing import Any

from inkle import _native, types
from inkle._native import array, func, kernel, launch

_numbers = itertools.count()


def define(text, names):
    """Runs the text of functions and gives their namespace back."""
    file = f"<inkle.map {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {**names, "__name__": "inkle._map"}
    exec(compile(text, file, "exec"), names)
    return names


def lambda_source(function):
    """The expression of a lambda, from the file it is written in."""
    code = function.__code__
    lines, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines))
    for start in (m.start() for m in re.finditer(r"\blambda\b", text)):
        # What follows the lambda on its line is dropped until the rest is an expression.
        for end in range(len(text), start, -1):
            try:
                node = ast.parse(f"({text[start:end]}\n)", mode="eval").body
            except SyntaxError:
                continue
            if isinstance(node, ast.Lambda):
                made = compile(ast.Expression(node), "<lambda>", "eval").co_consts[0]
                if _looks_like(made, code):
                    return node
                break
    raise ValueError(f"the source of the lambda in {code.co_filename}, line {first} cannot be found")


def _looks_like(made, code):
    """Whether two codes are of one text: variables of enclosing functions are globals in the one compiled alone."""

    def form(c):
        names = sorted({*c.co_names, *c.co_freevars})
        return c.co_varnames, names, [x for x in c.co_consts if not inspect.iscode(x)]

    return form(made) == form(code)


_sources = {}


def _source(function):
    """The syntax tree of a function or lambda, the names it may read, ``a.b`` as ``("a", "b")`` and ``("a",)``, and what is equal
    for those that do the same with equal values of these: of lambdas, which are often written anew, the text."""
    code = function.__code__
    if code not in _sources:
        if function.__name__ == "<lambda>":
            tree = lambda_source(function)
        else:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        reads = {parts for parts in builtins.map(_parts, ast.walk(tree)) if parts}
        same = ast.unparse(tree) if isinstance(tree, ast.Lambda) else code
        _remember(_sources, code, (tree, sorted(reads), same))
    return _sources[code]


def _parts(node):
    """The names that a dotted name is made of; nothing for other expressions."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        before = _parts(node.value)
        return before and (*before, node.attr)
    return ()


def _nonlocals(function):
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {name: cell.cell_contents for name, cell in cells if cell != _python_types.CellType()}


_functions = {}


def _function_of(function):
    """A Python function or lambda as a function of kernels: one for all of the same code, or text, that see the same values."""
    tree, reads, same = _source(function)
    nonlocals, seen = _nonlocals(function), []
    for root, *rest in reads:
        value = nonlocals.get(root, function.__globals__.get(root))
        for name in rest:
            value = getattr(value, name, None)
        seen.append(value)
    seen += function.__annotations__.values()
    key = (same, id(function.__globals__), tuple(builtins.map(id, seen)))
    if key not in _functions:
        make = _of_lambda if isinstance(tree, ast.Lambda) else _of_definition
        # Keeping what the key names by address keeps the address from being used again.
        _remember(_functions, key, (make(function, tree, nonlocals), seen, function.__globals__))
    return _functions[key][0]


def _of_lambda(function, tree, nonlocals):
    names = {**function.__globals__, **nonlocals, "_Any": Any}
    parameters = ", ".join(f"{a.arg}: _Any" for a in tree.args.args)
    text = f"def function({parameters}):\n    return {ast.unparse(tree.body)}\n"
    return func(define(text, names)["function"], module=_module())


def _of_definition(function, tree, nonlocals):
    """A copy that keeps the values of enclosing functions; parameters without annotations take any type."""
    code = function.__code__
    cell = _python_types.CellType
    cells = tuple(cell(nonlocals[name]) if name in nonlocals else cell() for name in code.co_freevars)
    made = _python_types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    made.__annotations__ = {**dict.fromkeys(code.co_varnames[: code.co_argcount], Any), **function.__annotations__}
    return func(made, module=_module())


def _remember(cache, key, value):
    """Stores in a cache that forgets its oldest entry when it is full."""
    if len(cache) >= 1024:
        cache.pop(next(iter(cache)))
    cache[key] = value


def _module():
    return f"inkle.map.{next(_numbers)}"


def _broadcast(shapes):
    ndim = max(len(s) for s in shapes)
    result = [1] * ndim
    for shape in shapes:
        for i, extent in enumerate(reversed(shape), 1):
            if extent != 1 and result[-i] not in (1, extent):
                different = next(s for s in shapes if len(s) >= i and s[-i] == result[-i])
                raise ValueError(f"Shapes {different} and {tuple(shape)} are not broadcastable")
            if extent != 1:
                result[-i] = extent
    return tuple(result)


def _type_of(value):
    if types.is_array(value):
        return value.dtype
    found = _native.type_of(value)
    if found is None:
        raise TypeError(f"map takes arrays and values, not {type(value).__name__}")
    return found


class _Plan:
    """A kernel made for a function, the types and shapes of its arguments, and its results."""

    def __init__(self, function, inputs, arrays, shape):
        names = {"function": function}
        parameters, values = [], []
        index = ", ".join(f"i{d}" for d in range(len(shape)))
        for i, value in enumerate(inputs):
            names[f"T{i}"] = _type_of(value)
            values.append(f"v{i}: T{i}")
        call = ", ".join(f"v{i}" for i in range(len(inputs)))
        probe = f"def map_target({', '.join(values)}):\n    return function({call})\n"
        names["map_target"] = func(define(probe, names)["map_target"], module=_module())
        probe = f"def map_probe({', '.join(values)}):\n    map_target({call})\n"
        tester = kernel(define(probe, names)["map_probe"], module=_module())
        try:
            self.results = _native.result_types(tester, "map_target")
        except _native.CompileError as error:
            if not any("does not return a value" in d["message"] for d in error.diagnostics):
                given = ", ".join(types.type_repr(_type_of(v)) for v in inputs)
                key = getattr(function, "key", getattr(function, "__name__", "?"))
                raise TypeError(
                    f"Function {key} does not support the provided argument types {given}\n{error}"
                ) from None
            self.results = []
        if not self.results:
            raise TypeError("The provided function must return a value")
        body = [f"    {index} = tid()"]
        for i, value in enumerate(inputs):
            if i in arrays:
                places = []
                for d in range(value.ndim):
                    axis = d + len(shape) - value.ndim
                    places.append("0" if value.shape[d] == 1 and shape[axis] != 1 else f"i{axis}")
                names[f"A{i}"] = _native.type_of(value)
                parameters.append(f"a{i}: A{i}")
                body.append(f"    v{i} = a{i}[{', '.join(places)}]")
            else:
                parameters.append(f"v{i}: T{i}")
        targets = ", ".join(f"r{i}" for i in range(len(self.results)))
        body.append(f"    {targets} = map_target({call})")
        for i, dtype in enumerate(self.results):
            names[f"O{i}"] = array(dtype=dtype, ndim=len(shape))
            parameters.append(f"o{i}: O{i}")
            body.append(f"    o{i}[{index}] = r{i}")
        names["tid"] = _native.builtin("tid")
        text = f"def map_kernel({', '.join(parameters)}):\n" + "\n".join(body) + "\n"
        self.kernel = kernel(define(text, names)["map_kernel"], module=_module())


map_cache = {}


def _plan(function, inputs, arrays, shape):
    def form(i, value):
        extents = tuple(n == 1 for n in value.shape) if i in arrays else None
        return (_type_of(value), extents, _native.array_kind(value) if i in arrays else None)

    key = (function, tuple(form(i, v) for i, v in enumerate(inputs)), tuple(n == 1 for n in shape))
    if key not in map_cache:
        _remember(map_cache, key, _Plan(function, inputs, arrays, shape))
    return map_cache[key]


def map(function, *inputs, out=None, return_kernel=False, block_dim=None, device=None):
    """Applies a function to each element of arrays, broadcast against each other, and to values.

    Args:
        function: A function of kernels, a built-in, or a Python function or lambda that kernels could call.
        inputs: Arrays and values; at least one array.
        out: The array for the results, or a list of one per result; new arrays when left out.
        return_kernel: Whether to give back the kernel that does it instead of running it.
        block_dim: As in ``launch``.
        device: Where to run; the device of the first array when left out.
    """
    if not isinstance(function, (_native.Function, _native.Builtin)):
        if inspect.isfunction(function):
            function = _function_of(inspect.unwrap(function))
        elif not types.type_is_value(function):
            raise TypeError(f"map takes a function, not {type(function).__name__}")
    arrays = [i for i, value in enumerate(inputs) if types.is_array(value)]
    if not arrays:
        raise ValueError("map requires at least one warp.array input")
    if isinstance(function, _native.Function):
        expected = function.func.__code__.co_argcount
        if expected != len(inputs):
            raise TypeError(
                f"Number of input arguments ({len(inputs)}) does not match expected number of function arguments "
                f"({expected})"
            )
    shape = _broadcast([tuple(inputs[i].shape) for i in arrays])
    device = inputs[arrays[0]].device if device is None else device
    plan = _plan(function, inputs, arrays, shape)
    wanted = _outputs(out, plan.results, shape, device, any(inputs[i].requires_grad for i in arrays))
    outputs = [_native.empty(shape, dtype=o.dtype, device=device) if not isinstance(o, array) else o for o in wanted]
    if return_kernel:
        return plan.kernel
    options = {} if block_dim is None else {"block_dim": block_dim}
    launch(plan.kernel, dim=shape, inputs=list(inputs), outputs=outputs, device=device, **options)
    _copied_back(wanted, outputs)
    if out is not None:
        return out
    return outputs[0] if len(outputs) == 1 else outputs


def _outputs(out, results, shape, device, requires_grad):
    if out is None:
        return [_native.empty(shape, dtype=t, device=device, requires_grad=requires_grad) for t in results]
    several = isinstance(out, (list, tuple))
    given = list(out) if several else [out]
    if several and len(given) != len(results):
        raise TypeError(
            f"Number of provided output arrays ({len(given)}) does not match expected number of function outputs "
            f"({len(results)})"
        )
    if len(given) != len(results) or not all(types.is_array(o) for o in given):
        names = ", ".join(types.type_repr(t) for t in results)
        raise TypeError(
            f"Invalid output provided, expected {len(results)} Warp arrays with shape {shape} and dtypes ({names})"
        )
    for i, (target, dtype) in enumerate(zip(given, results)):
        which = f"Output array {i}" if several else "Output array"
        if tuple(target.shape) != shape:
            raise TypeError(f"{which} shape {tuple(target.shape)} does not match expected shape {shape}")
        if not types.types_equal(target.dtype, dtype):
            found, expected = types.type_repr(target.dtype), types.type_repr(dtype)
            raise TypeError(f"{which} dtype {found} does not match expected dtype {expected}")
    return given


def _copied_back(out, given):
    """Results go through plain arrays into indexed ones."""
    for to, source in zip(out, given):
        if to is not source:
            to.assign(source)
