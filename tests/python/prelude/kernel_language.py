"""The library's kernel sources under CPython: strictly typed, one call at a time, scalars by numpy.

The library's sources have Python's syntax. Here they run with small stand-ins for vectors, matrices, quaternions
and transforms, and every operator insists on operands of one type, as the kernel language does. This checks the
mathematics of a source without a compiler, and later the compiler against the sources.
"""

import ast
import itertools
import math
import pathlib
import types

import numpy as np

SOURCES = pathlib.Path(__file__).parents[3] / "crates/inkle-prelude/src/kernel"

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
SCALARS = {t.__name__: t for t in INTEGERS + FLOATS} | {"bool": np.bool_}
VARIABLES = {"S": [*SCALARS.values()], "R": INTEGERS + FLOATS, "I": INTEGERS, "F": FLOATS}
SIZES = {"N", "M", "K", "D"}


class Ref:
    """A variable that a function may assign to."""

    def __init__(self, value):
        self.value = value


def deref(x):
    return x.value if isinstance(x, Ref) else x


class Composite:
    """Components of one scalar type. `head` is what two operands of an operator must share."""

    def __init__(self, head, elem, flat):
        self.head, self.elem, self.flat = head, elem, flat

    def position(self, index):
        if self.head[0] == "mat":
            row, column = index
            _, rows, columns = self.head
            assert 0 <= row < rows and 0 <= column < columns
            return int(row) * columns + int(column)
        if self.head[0] == "array" and self.head[1] > 1:
            return int(np.ravel_multi_index(tuple(int(i) for i in index), self.head[2:]))
        assert 0 <= index < len(self.flat)
        return int(index)

    def __getitem__(self, index):
        return self.flat[self.position(index)]

    def __setitem__(self, index, value):
        assert type(value) is self.elem, (type(value), self.elem)
        self.flat[self.position(index)] = value

    def same(self, flat):
        return Composite(self.head, self.elem, flat)

    def numpy(self):
        a = np.array(self.flat, self.elem)
        return a.reshape(self.head[1:]) if self.head[0] == "mat" else a


class Constructor:
    """`vec`, `mat`, `quat` or `transform`, before and after its parameters are given."""

    def __init__(self, name, parameters=None):
        self.name, self.parameters = name, parameters

    def __getitem__(self, parameters):
        return Constructor(self.name, parameters if isinstance(parameters, tuple) else (parameters,))

    def __call__(self, *args):
        *sizes, elem = self.parameters
        elem = elem.type if isinstance(elem, Scalar) else elem
        count = {"quat": 4, "transform": 7}.get(self.name) or math.prod(sizes)
        flat = []
        if len(args) == 1 and isinstance(deref(args[0]), Composite) and len(deref(args[0]).flat) == count:
            args = [elem(x) for x in deref(args[0]).flat]
        for arg in map(deref, args):
            flat += arg.flat if isinstance(arg, Composite) else [arg]
        flat = flat or [elem(0)] * count
        assert len(flat) == count, (self.name, sizes, len(flat))
        assert all(type(x) is elem for x in flat), [type(x) for x in flat]
        return Composite((self.name, *sizes), elem, flat)


class Scalar:
    """A scalar type as a conversion."""

    def __init__(self, scalar):
        self.type = scalar

    def __call__(self, x):
        x = deref(x)
        if isinstance(x, (int, np.integer)) and np.issubdtype(self.type, np.integer):
            bits = np.iinfo(self.type).bits
            x = int(x) % 2**bits
            return self.type(x - 2**bits if np.issubdtype(self.type, np.signedinteger) and x >> (bits - 1) else x)
        return self.type(x)


def array(values):
    """An array argument."""
    return Composite(("array", values.ndim, *values.shape), values.dtype.type, list(values.flat))


def vec(*x, elem=np.float32):
    return Composite(("vec", len(x)), elem, [elem(v) for v in x])


def mat(rows, elem=np.float32):
    rows = np.asarray(rows, elem)
    return Composite(("mat", *rows.shape), elem, list(rows.flat))


def quat(*x, elem=np.float32):
    return Composite(("quat",), elem, [elem(v) for v in x])


def transform(*x, elem=np.float32):
    return Composite(("transform",), elem, [elem(v) for v in x])


# Operators and operations


def _lift(f):
    def apply(*args):
        args = [deref(a) for a in args]
        first = args[0]
        if isinstance(first, Composite):
            assert all(a.head == first.head and a.elem is first.elem for a in args), "operands differ in type"
            return first.same([first.elem(f(*xs)) for xs in zip(*(a.flat for a in args))])
        if all(isinstance(a, (int, float)) for a in args):
            return f(*args)
        assert all(type(a) is type(first) for a in args), f"operands differ in type: {[type(a) for a in args]}"
        return type(first)(f(*args))

    return apply


def _divide(a, b):
    return a / b if isinstance(a, np.floating) else np.trunc(a / b)


def _multiply(a, b):
    a, b = deref(a), deref(b)
    if isinstance(a, Composite) and not isinstance(b, Composite):
        assert type(b) is a.elem
        return a.same([x * b for x in a.flat])
    if isinstance(b, Composite) and not isinstance(a, Composite):
        return _multiply(b, a)
    assert not isinstance(a, Composite), "products of linear algebra are helpers"
    return _lift(lambda x, y: x * y)(a, b)


def _quotient(a, b):
    a, b = deref(a), deref(b)
    if isinstance(a, Composite):
        assert type(b) is a.elem
        return a.same([_divide(x, b) for x in a.flat])
    if isinstance(b, Composite):
        assert type(a) is b.elem
        return b.same([_divide(a, x) for x in b.flat])
    return _lift(_divide)(a, b)


BINARY = {
    ast.Add: _lift(lambda a, b: a + b),
    ast.Sub: _lift(lambda a, b: a - b),
    ast.Mult: _multiply,
    ast.Div: _quotient,
    ast.FloorDiv: _lift(lambda a, b: a // b),
    ast.Mod: _lift(np.fmod),
    ast.LShift: _lift(lambda a, b: a << b),
    ast.RShift: _lift(lambda a, b: a >> b),
    ast.BitXor: _lift(lambda a, b: a ^ b),
    ast.BitAnd: _lift(lambda a, b: a & b),
}
COMPARE = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def _compare(op, a, b):
    a, b = deref(a), deref(b)
    assert type(a) is type(b), (type(a), type(b))
    return bool(COMPARE[op](a, b))


def _copy(x):
    x = deref(x)
    return x.same(list(x.flat)) if isinstance(x, Composite) else x


def _where(cond, a, b):
    a, b = _copy(a), _copy(b)
    assert type(a) is type(b)
    return a if deref(cond) else b


def _bitcast(x, to):
    return np.array(deref(x)).view(to.type)[()]


def _clamped(f):
    return lambda x: f(np.clip(x, -1, 1))


OPERATIONS = {
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "acos": _clamped(np.arccos),
    "asin": _clamped(np.arcsin),
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "cbrt": np.cbrt,
    "floor": np.floor,
    "trunc": np.trunc,
    "abs": np.abs,
    "min": np.fmin,
    "max": np.fmax,
}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


# Patterns


def _admit(name, scalar, bound):
    if name in VARIABLES:
        return scalar in VARIABLES[name] and bound.setdefault(name, scalar) is scalar
    return SCALARS.get(name) is scalar


def _size(node, n, bound):
    return n == node.value if isinstance(node, ast.Constant) else bound.setdefault(node.id, n) == n


def matches(pattern, value, bound):
    """Whether a value fits an annotation, binding the annotation's variables."""
    match pattern:
        case ast.Constant(value=None) | None:
            return value is None
        case ast.Name(id="bool"):
            return isinstance(value, (bool, np.bool_))
        case ast.Name(id=name):
            return not isinstance(value, (Composite, tuple)) and _admit(name, type(value), bound)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
            return len(parts) == len(value) and all(matches(p, v, bound) for p, v in zip(parts, value))
        case ast.Subscript(value=ast.Name(id="ref"), slice=inner):
            return isinstance(value, Ref) and matches(inner, value.value, bound)
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if isinstance(value, Ref):
                value = value.value
            if not isinstance(value, Composite) or value.head[0] != name:
                return False
            if name == "array":
                return _admit(parts[0].id, value.elem, bound) and _size(parts[1], value.head[1], bound)
            *sizes, elem = parts
            fits = all(_size(s, n, bound) for s, n in zip(sizes, value.head[1:], strict=True))
            return fits and _admit(elem.id, value.elem, bound)
    raise AssertionError(ast.dump(pattern))


def is_reference(annotation):
    return isinstance(annotation, ast.Subscript) and annotation.value.id == "ref"


class Rewrite(ast.NodeTransformer):
    """Operators become strict calls, assignment copies, variables in `refs` are read and written through."""

    def __init__(self, refs):
        self.refs = refs

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return self.call("__binary", ast.Constant(type(node.op).__name__), node.left, node.right)

    def visit_Compare(self, node):
        self.generic_visit(node)
        assert len(node.ops) == 1
        return self.call("__compare", ast.Constant(type(node.ops[0]).__name__), node.left, node.comparators[0])

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)
            return self.call("__negate", node.operand)
        return self.generic_visit(node)

    def visit_Call(self, node):
        # A parameter by reference is handed on as such; whoever wants its value takes it.
        node.args = [a if isinstance(a, ast.Name) and a.id in self.refs else self.visit(a) for a in node.args]
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        node.value = self.call("__copy", node.value) if isinstance(node.value, ast.Name) else node.value
        return node

    def visit_Name(self, node):
        if node.id in self.refs:
            return ast.Attribute(ast.Name(node.id, ast.Load()), "value", node.ctx)
        return node

    @staticmethod
    def call(name, *args):
        return ast.Call(ast.Name(name, ast.Load()), list(args), [])


class Overload:
    """One definition of the sources."""

    def __init__(self, node, library):
        self.node, self.library, self.ran = node, library, False
        self.params = node.args.args
        self.defaults = dict(zip([p.arg for p in self.params][::-1], node.args.defaults[::-1]))
        self.refs = [is_reference(p.annotation) for p in self.params]
        refs = {p.arg for p, ref in zip(self.params, self.refs) if ref}
        # Variables that a call may assign to are held in a `Ref` throughout.
        held = {name for call in ast.walk(node) for name in library.assigned_by(call)} - refs
        assert held.isdisjoint(p.arg for p in self.params), "parameters by value cannot be assigned to by a call"
        body = ast.FunctionDef(
            name=node.name,
            args=ast.arguments([], [ast.arg(p.arg) for p in self.params], None, [], [], None, []),
            body=node.body,
            decorator_list=[],
        )
        body = Rewrite(refs | held).visit(body)
        body.body = [ast.parse(f"{name} = __Ref(None)").body[0] for name in sorted(held)] + body.body
        module = ast.fix_missing_locations(ast.Module([body], []))
        code = compile(module, node.name, "exec")
        self.code = next(c for c in code.co_consts if isinstance(c, types.CodeType))

    def bind(self, args):
        """The variables' meaning and the arguments, or None when these arguments do not fit."""
        if len(args) > len(self.params) or any(p.arg not in self.defaults for p in self.params[len(args) :]):
            return None
        bound = {}
        values = [a if ref else _copy(a) for a, ref in zip(args, self.refs)]
        if not all(matches(p.annotation, v, bound) for p, v in zip(self.params, values)):
            return None
        for p in self.params[len(args) :]:
            scalar = bound.get(p.annotation.id) or SCALARS[p.annotation.id]
            values.append(scalar(self.defaults[p.arg].value))
        return bound, values

    def run(self, bound, values):
        self.ran = True
        names = {k: Scalar(v) if k in VARIABLES else v for k, v in bound.items()}
        result = types.FunctionType(self.code, self.library.names | names)(*values)
        assert matches(self.node.returns, result, dict(bound)), (self.node.name, result)
        return result


class Library:
    """All functions of the sources by name."""

    def __init__(self):
        self.overloads = {}
        self.names = {name: Scalar(t) for name, t in SCALARS.items()} | {
            **{name: Constructor(name) for name in ("vec", "mat", "quat", "transform")},
            "__binary": lambda op, a, b: BINARY[getattr(ast, op)](a, b),
            "__compare": lambda op, a, b: _compare(getattr(ast, op), a, b),
            "__negate": lambda x: _lift(lambda v: -v)(x),
            "__copy": _copy,
            "__Ref": Ref,
            "where": _where,
            "bitcast": _bitcast,
            "range": range,
            "len": lambda a: np.int32(deref(a).head[2] if deref(a).head[0] == "array" else len(deref(a).flat)),
        }
        nodes = [n for path in sorted(SOURCES.glob("*.py")) for n in ast.parse(path.read_text(encoding="utf-8")).body]
        self.references = {}
        for node in nodes:
            params = node.args.args
            places = {i for i, p in enumerate(params) if is_reference(p.annotation)}
            self.references.setdefault((node.name, len(params)), set()).update(places)
        for node in nodes:
            self.overloads.setdefault(node.name, []).append(Overload(node, self))
        for name in itertools.chain(OPERATIONS, TESTS, self.overloads):
            self.names[name] = self.function(name)

    def assigned_by(self, node):
        """The names of the variables that a node of the tree, if it is a call, passes by reference."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return []
        places = self.references.get((node.func.id, len(node.args)), ())
        return [node.args[i].id for i in places]

    def function(self, name):
        return lambda *args: self.call(name, *args)

    def call(self, name, *args):
        """Calls a function by name, an operation or the first overload that fits."""
        with np.errstate(all="ignore"):
            scalar = not isinstance(deref(args[0]), Composite)
            if name in OPERATIONS and (scalar or name in ("min", "max") and len(args) == 2):
                return _lift(OPERATIONS[name])(*args)
            if name in TESTS and scalar:
                return bool(TESTS[name](deref(args[0])))
            for overload in self.overloads.get(name, ()):
                if (bound := overload.bind(args)) is not None:
                    return overload.run(*bound)
        raise TypeError(f"{name}: no overload for {[getattr(deref(a), 'head', type(deref(a))) for a in args]}")
