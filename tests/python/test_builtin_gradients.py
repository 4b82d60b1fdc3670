"""Every built-in of the registry that gives floats for floats, against central differences of itself.

The forms come from the registry, so a new one is tested as soon as it is there; one that cannot be differentiated
must be named here with the reason.
"""

import re

import numpy as np
import pytest
from _support import load
from _wp import ON_WARP, wp

if ON_WARP:
    pytest.skip("Warp differs: its registry is another", allow_module_level=True)

SAMPLES = 6
COLUMNS = 40

# What scalar arguments may be; elsewhere they are between 0.2 and 0.9.
DOMAINS = {"acosh": (1.2, 3.0), "erfcinv": (0.3, 1.7), "mod": (1.1, 4.0)}

# Forms that are not compared, by name, with the reason.
APART = {
    "static": "evaluated while compiling",
    "bitcast": "bits are not numbers",
    "cast": "bits are not numbers",
    "grad": "has tests of its own",
}
SAME_SOURCE = ("float16", "bfloat16")
# The matrix is symmetric: what is above the diagonal and what is below move together.
SYMMETRIC = ("eig3",)
# The name is also that of a type of float32.
FLOAT32 = ("spatial_vector",)

SHAPE = re.compile(r"(\w+)(?:\[(.*)\])?$")


def split(text):
    """The parts of a comma-separated text, brackets kept together."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text + ","):
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in parts if p]


class Kind:
    """A type in a signature, with definite sizes and float64 for what is open."""

    def __init__(self, text):
        self.head, inside = SHAPE.match(text).groups()
        inside = split(inside or "")
        number = {"N": 3, "M": 2, "K": 2}
        if self.head in ("vec", "mat"):
            self.shape = tuple(int(n) if n.isdigit() else number[n] for n in inside[:-1])
        else:
            self.shape = {"quat": (4,), "transform": (7,)}.get(self.head, ())
        scalar = inside[-1] if inside else self.head
        self.scalar = {"float32": "float32", "int32": "int32", "uint32": "uint32", "bool": "bool"}.get(scalar)
        if self.scalar is None:
            self.scalar = {"I": "int32", "B": "int32"}.get(scalar, scalar if scalar in SAME_SOURCE else "float64")

    @property
    def is_float(self):
        return self.scalar.startswith(("float", "bfloat"))

    @property
    def source(self):
        name = f"wp.{self.scalar}"
        return {
            "vec": f"wp.types.vector(length={self.shape[0] if self.shape else 0}, dtype={name})",
            "mat": f"wp.types.matrix(shape={self.shape}, dtype={name})",
            "quat": f"wp.types.quaternion(dtype={name})",
            "transform": f"wp.types.transformation(dtype={name})",
        }.get(self.head, name)

    def components(self, value):
        """Expressions for the components of `value`."""
        if self.head == "mat":
            return [f"{value}[{r}, {c}]" for r in range(self.shape[0]) for c in range(self.shape[1])]
        return [f"{value}[{i}]" for i in range(self.shape[0])] if self.shape else [value]


def comparable():
    """``(name, parameters, results)`` of every form that takes and gives floats."""
    found = []
    for name in wp.builtin_names():
        for _, signature, _ in wp.builtin(name).forms:
            match = re.match(r"\((.*)\)(?: -> (.*))?$", signature)
            if match is None or not match[2] or name in APART or "array[" in signature or "ref[" in signature:
                continue
            params = [p.split(": ", 1) for p in split(match[1]) if " = " not in p]
            if any(text in SAME_SOURCE or text.endswith(tuple(f"{s}]" for s in SAME_SOURCE)) for _, text in params):
                continue
            results = match[2]
            results = split(results[6:-1]) if results.startswith("tuple[") else [results]
            if name in FLOAT32:
                params = [(n, re.sub(r"\bF\b", "float32", text)) for n, text in params]
                results = [re.sub(r"\bF\b", "float32", text) for text in results]
            params = [(n, Kind(text)) for n, text in params if not n.startswith("dtype")]
            results = [Kind(text) for text in results]
            if any(k.is_float for _, k in params) and any(k.is_float for k in results):
                found.append((name, signature, params, results))
    return found


FORMS = comparable()


def kernel_source(index, name, params, results):
    arrays = ", ".join(f"a{i}: wp.array(dtype={k.source})" for i, (_, k) in enumerate(params))
    lines = [
        f"@wp.kernel(enable_backward=True, module='unique')\ndef k{index}({arrays}, out: wp.array2d(dtype=wp.float64)):"
    ]
    lines.append("    i = wp.tid()")
    names = [f"r{n}" for n in range(len(results))]
    call = f"wp.{name}({', '.join(f'a{i}[i]' for i in range(len(params)))})"
    lines.append(f"    {', '.join(names)} = {call}")
    column = 0
    for result, kind in zip(names, results):
        for part in kind.components(result) if kind.is_float else ():
            lines.append(f"    out[i, {column}] = wp.float64({part})")
            column += 1
    assert column <= COLUMNS
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    text = "\n\n".join(kernel_source(i, name, params, results) for i, (name, _, params, results) in enumerate(FORMS))
    return load(tmp_path_factory.mktemp("forms"), text)


def arguments(name, params, rng, device):
    low, high = DOMAINS.get(name, (0.2, 0.9))
    integers = 0
    arrays = []
    for param, kind in params:
        if not kind.is_float:
            value = 17 if param in ("state", "seed") else 4 if re.fullmatch(r"p[xyzt]", param) else integers
            value = 1 if param.startswith("cond") else value
            integers += 1
            data = np.full(SAMPLES, value)
        elif kind.head == "mat":
            data = rng.uniform(-1.0, 1.0, (SAMPLES, *kind.shape)) + 2.0 * np.eye(*kind.shape)
            if name in SYMMETRIC:
                data = data + data.transpose(0, 2, 1)
        else:
            data = rng.uniform(low, high, (SAMPLES, *kind.shape))
        dtype = getattr(wp, kind.scalar) if not kind.shape else None
        if dtype is None:
            dtype = eval(kind.source, {"wp": wp})
        np_type = {"float64": np.float64, "float32": np.float32, "uint32": np.uint32}.get(kind.scalar, np.int32)
        arrays.append(wp.array(data.astype(np_type), dtype=dtype, device=device, requires_grad=kind.is_float))
    return arrays


@pytest.mark.parametrize("index", range(len(FORMS)), ids=[f"{n}{s.split(' -> ')[0]}" for n, s, _, _ in FORMS])
def test_gradient(index, kernels):
    name, signature, params, results = FORMS[index]
    kernel = getattr(kernels, f"k{index}")
    rng = np.random.default_rng(index)
    inputs = arguments(name, params, rng, "cpu")
    weights = rng.uniform(0.5, 1.5, (SAMPLES, COLUMNS))

    def run():
        out = wp.zeros((SAMPLES, COLUMNS), dtype=wp.float64, device="cpu", requires_grad=True)
        wp.launch(kernel, SAMPLES, inputs, [out], device="cpu")
        return out

    out = run()
    assert np.isfinite(out.numpy()).all(), signature
    out.grad.assign(weights)
    none = [None] * len(inputs)
    wp.launch(kernel, SAMPLES, inputs, [out], adj_inputs=none, adj_outputs=[None], device="cpu", adjoint=True)
    for (param, kind), array in zip(params, inputs):
        if not kind.is_float:
            continue
        step, tolerance = (1e-6, 2e-6) if kind.scalar == "float64" else (4e-3, 2e-2)
        base = array.numpy().copy()
        gradient = array.grad.numpy().reshape(SAMPLES, -1)
        together = [[c] for c in range(gradient.shape[1])]
        if name in SYMMETRIC:
            n = kind.shape[0]
            together = [sorted({r * n + c, c * n + r}) for r in range(n) for c in range(n)]
            gradient = np.stack([gradient[:, cells].sum(axis=1) for cells in together], axis=1)
        expected = np.zeros((SAMPLES, gradient.shape[1]))
        for component in range(gradient.shape[1]):
            for sign in (1.0, -1.0):
                moved = base.reshape(SAMPLES, -1).copy()
                moved[:, together[component]] += sign * step
                array.assign(moved.reshape(base.shape))
                expected[:, component] += sign * (run().numpy() * weights).sum(axis=1)
            expected[:, component] /= 2.0 * step
        array.assign(base)
        scale = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose(
            gradient, expected, rtol=tolerance, atol=tolerance * scale, err_msg=f"{name}{signature}, by {param}"
        )


@wp.kernel(enable_backward=True, module="unique")
def at_zero(
    v: wp.array(dtype=wp.vec3), q: wp.array(dtype=wp.quat), s: wp.array(dtype=float), out: wp.array(dtype=float)
):
    out[0] = wp.length(v[0]) + wp.normalize(v[0])[0] + wp.length(q[0]) + wp.normalize(q[0])[1]
    axis, angle = wp.quat_to_axis_angle(wp.quat_slerp(wp.quat_identity(), q[1], s[0]))
    out[1] = axis[0] + angle + wp.atan2(s[0], s[0])
    root = wp.sqrt(s[0])
    if s[0] > 0.0:
        out[2] = 1.0 / root


def test_zero_has_no_direction():
    v = wp.zeros(1, dtype=wp.vec3, device="cpu", requires_grad=True)
    q = wp.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], dtype=wp.quat, device="cpu", requires_grad=True)
    s = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
    out = wp.zeros(3, dtype=float, device="cpu", requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(at_zero, 1, [v, q, s], [out], device="cpu")
    tape.backward(grads={out: wp.ones(3, dtype=float, device="cpu")})
    for array in (v, q, s):
        np.testing.assert_array_equal(array.grad.numpy(), 0.0)


@wp.kernel(enable_backward=True, module="unique")
def eigenvalue(m: wp.array(dtype=wp.mat33), out: wp.array(dtype=float)):
    Q, d = wp.eig3(m[0])
    out[0] = d[0] + d[1] + d[2] + wp.dot(d, d)


def test_repeated_eigenvalues():
    m = wp.array(2.0 * np.eye(3)[None], dtype=wp.mat33, device="cpu", requires_grad=True)
    out = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(eigenvalue, 1, [m], [out], device="cpu")
    tape.backward(out)
    # The trace and the sum of all squares.
    np.testing.assert_allclose(m.grad.numpy()[0], np.eye(3) * 5.0, atol=1e-6)


@wp.kernel(enable_backward=True, module="unique")
def singular_values(m: wp.array(dtype=wp.mat33), n: wp.array(dtype=wp.mat22), out: wp.array(dtype=float)):
    i = wp.tid()
    U, s, V = wp.svd3(m[i])
    P, t, Q = wp.svd2(n[i])
    # The same whatever the vectors of a repeated value are.
    back = U * wp.diag(wp.cw_mul(s, s)) * wp.transpose(V)
    out[i] = s[0] + s[1] + s[2] + wp.dot(s, s) + t[0] + t[1] + wp.dot(t, t) + 0.0 * back[0, 0]


def test_repeated_singular_values():
    m = wp.array([np.eye(3), -np.eye(3), np.zeros((3, 3))], dtype=wp.mat33, device="cpu", requires_grad=True)
    n = wp.array([np.eye(2), 2.0 * np.eye(2), np.zeros((2, 2))], dtype=wp.mat22, device="cpu", requires_grad=True)
    out = wp.zeros(3, dtype=float, device="cpu", requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(singular_values, 3, [m, n], [out], device="cpu")
    tape.backward(grads={out: wp.ones(3, dtype=float, device="cpu")})
    np.testing.assert_allclose(m.grad.numpy()[0], np.eye(3) * 3.0, atol=1e-6)
    np.testing.assert_allclose(n.grad.numpy()[:2], [np.eye(2) * 3.0, np.eye(2) * 5.0], atol=1e-6)
    assert np.isfinite(m.grad.numpy()).all() and np.isfinite(n.grad.numpy()).all()


@wp.kernel(enable_backward=True, module="unique")
def triangle(m: wp.array(dtype=wp.mat33), out: wp.array(dtype=float)):
    i = wp.tid()
    Q, R = wp.qr3(m[i])
    out[i] = R[0, 0] + R[1, 1] + R[0, 1] * R[0, 2] + Q[1, 0]


def test_dependent_columns_have_finite_gradients():
    data = [np.ones((3, 3)), np.zeros((3, 3)), np.diag([1.0, 2.0, 0.0]), np.diag([1.0, 2.0, 3.0])]
    m = wp.array(data, dtype=wp.mat33, device="cpu", requires_grad=True)
    out = wp.zeros(4, dtype=float, device="cpu", requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(triangle, 4, [m], [out], device="cpu")
    tape.backward(grads={out: wp.ones(4, dtype=float, device="cpu")})
    assert np.isfinite(m.grad.numpy()).all()


def test_most_of_the_registry_is_compared():
    assert len(FORMS) > 150
    assert set(APART) <= set(wp.builtin_names())
