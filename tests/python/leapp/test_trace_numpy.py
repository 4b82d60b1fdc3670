"""numpy on traced values becomes PyTorch operations that give what numpy gave."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

import numpy as np  # noqa: E402

import inkle as wp  # noqa: E402
from inkle.leapp import TraceError, TraceWarning, annotate  # noqa: E402

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4)).astype(np.float32)
V = RNG.normal(size=4).astype(np.float32)
N = np.array([[3, 1, 2], [0, 5, 4]], dtype=np.int32)


def once(trace, program, *inputs, times=2, check=True):
    with trace():
        for step in range(times):
            given = {f"x{i}": np.copy(x) + x.dtype.type(step) for i, x in enumerate(inputs)}
            got = annotate.input_tensors("a", given)
            result = program(*(got if isinstance(got, tuple) else (got,)))
            result = result if isinstance(result, tuple) else (result,)
            annotate.output_tensors("a", {f"y{i}": y for i, y in enumerate(result)})
    return trace.check(tolerance=1e-5) if check else trace.node()


@pytest.mark.parametrize(
    "program",
    [
        lambda x, v: x * 2 + v,
        lambda x, v: (x - v) / 3,
        lambda x, v: 1.0 / (1.0 + np.exp(-x)),
        lambda x, v: np.sqrt(np.abs(x)) ** 2,
        lambda x, v: np.sin(x) * np.cos(v) + np.tanh(x),
        lambda x, v: np.arctan2(x, v),
        lambda x, v: x @ v,
        lambda x, v: np.dot(x, v),
        lambda x, v: x.T @ x,
        lambda x, v: np.maximum(x, v),
        lambda x, v: np.where(x > v, x, 0),
        lambda x, v: np.clip(x, -0.5, 0.5),
        lambda x, v: x.clip(-1, 1),
        lambda x, v: x.sum(),
        lambda x, v: x.sum(axis=1, keepdims=True),
        lambda x, v: x.mean(axis=0),
        lambda x, v: np.mean(x),
        lambda x, v: x.std(axis=1),
        lambda x, v: np.var(x, axis=0),
        lambda x, v: x.max(axis=1),
        lambda x, v: np.min(x),
        lambda x, v: np.argmax(x, axis=1),
        lambda x, v: np.prod(x, axis=0),
        lambda x, v: np.cumsum(x, axis=1),
        lambda x, v: np.linalg.norm(x, axis=1),
        lambda x, v: np.linalg.norm(v),
        lambda x, v: np.concatenate([x, x + 1], axis=1),
        lambda x, v: np.stack([v, v * 2]),
        lambda x, v: np.hstack([v, x[0]]),
        lambda x, v: np.vstack([v, x]),
        lambda x, v: np.tile(v, 2),
        lambda x, v: np.repeat(v, 2),
        lambda x, v: np.outer(v, v),
        lambda x, v: np.einsum("ij,j->i", x, v),
        lambda x, v: np.sort(v),
        lambda x, v: v[np.argsort(v)],
        lambda x, v: x[:, 1:3],
        lambda x, v: x[1],
        lambda x, v: x[[2, 0]],
        lambda x, v: x[:, np.array([3, 0])] + 0,
        lambda x, v: x.reshape(4, 3) * 1,
        lambda x, v: x.T.copy(),
        lambda x, v: x.ravel() + 1,
        lambda x, v: x.flatten(),
        lambda x, v: np.expand_dims(v, 0) * 2,
        lambda x, v: np.transpose(x)[1:] * 2,
        lambda x, v: v[::-1] * 1,
        lambda x, v: np.flip(x, 0) * 2,
        lambda x, v: np.roll(v, 1),
        lambda x, v: x.astype(np.float64) * 0.1,
        lambda x, v: (x > 0).astype(np.float32),
        lambda x, v: np.logical_and(x > 0, x < 1),
        lambda x, v: np.array([v[0], v[1] * 2]),
        lambda x, v: np.asarray(v) * 3,
        lambda x, v: np.zeros_like(x) + x,
        lambda x, v: np.cross(x[:, :3], v[:3]),
        lambda x, v: np.add.reduce(x, axis=0),
        lambda x, v: np.multiply.outer(v, v),
        lambda x, v: np.round(x, 1),
        lambda x, v: -x % 1.0,
        lambda x, v: np.diff(v),
        lambda x, v: np.interp is not None and x + 0,
    ],
)
def test_functions(trace, program):
    once(trace, program, X, V)


@pytest.mark.parametrize(
    "program",
    [
        lambda n: n / 2,
        lambda n: n // 2,
        lambda n: n * np.float32(0.5),
        lambda n: n + 0.5,
        lambda n: n.sum(),
        lambda n: n.mean(),
        lambda n: np.sqrt(n),
        lambda n: n % 3,
        lambda n: n & 1,
        lambda n: n.astype(np.float32) + np.float64(1),
    ],
)
def test_types_are_numpy_s(trace, program):
    once(trace, program, N)


def test_writes(trace):
    def program(x):
        out = np.zeros((3, 4), dtype=np.float32)
        out[1:] = x[1:]
        out[:, 0] = x[:, 1] * 2
        out[out > 1] = 1
        x += 1
        x[0] = 5
        np.multiply(x, 2, out=x)
        out.fill(0) if False else None
        return x, out, x.T[1]

    once(trace, program, X)


def test_between_torch_and_numpy(trace):
    def program(x):
        t = torch.from_numpy(x) * 2
        n = t.numpy()
        n[0] = 1
        u = torch.as_tensor(n) + torch.tensor(n).sum()
        m = np.asarray(u) + 1
        return torch.tanh(torch.as_tensor(m)), t

    once(trace, program, X)


def test_reading_numpy_values_is_reported(trace):
    with pytest.warns(TraceWarning, match=r"node 'a'.*read by the program at .*test_trace_numpy.py:\d+"):
        once(trace, lambda x: x * (2.0 if x.sum() > 0 else 3.0), np.abs(X), times=1)
    for read in (float, int, bool, lambda a: a.item(), lambda a: a.tolist()):
        with pytest.warns(TraceWarning):
            once(trace, lambda x, read=read: (read(x[0, 0]), x * 1)[1], X, times=1)


def test_what_cannot_be_traced_says_so(trace):
    with pytest.raises(TraceError, match="numpy's interp cannot be traced.*use PyTorch"):
        once(trace, lambda x: np.interp(x, [0, 1], [0, 2]), X)


def test_arrays_are_plain_again_after_the_trace(trace):
    kept = []
    once(trace, lambda x: kept.append(x * 2) or x + 1, X)
    value = kept[0] + 1
    assert type(value) is np.ndarray and isinstance(float(kept[0][0, 0]), float)
    assert np.histogram(kept[0])[0].sum() == 12 and bool((kept[0] == kept[0]).all())


def test_arrays_of_kernels_are_made_of_traced_values(trace, operators):
    @wp.kernel
    def unproject(depth: wp.array2d(dtype=float), f: float, cloud: wp.array2d(dtype=wp.vec3)):
        v, u = wp.tid()
        d = depth[v, u]
        cloud[v, u] = wp.vec3(float(u) * d / f, float(v) * d / f, d)

    def step(depth, points):
        depth, points = annotate.input_tensors("a", {"depth": depth, "points": points})
        near = np.where(depth < 0.5, depth, 0.5)
        cloud, moved = wp.empty((2, 3), dtype=wp.vec3, device="cpu"), wp.zeros(4, dtype=wp.vec3, device="cpu")
        # A copy in another type, one in another shape, and one into an array that is there.
        given = wp.from_numpy(near.astype(np.float64), dtype=float, device="cpu")
        wp.launch(unproject, (2, 3), inputs=[given, 2.0], outputs=[cloud], device="cpu")
        flat = wp.array(points.reshape(-1) * 2, dtype=wp.vec3, device="cpu")
        wp.copy(moved, flat)
        moved[1:3].assign(points[2:])
        annotate.output_tensors("a", {"centre": cloud.numpy().reshape(-1, 3).mean(axis=0), "moved": moved})

    rng = np.random.default_rng(1)
    with trace():
        for _ in range(2):
            step(rng.random((2, 3), dtype=np.float32), rng.random((4, 3), dtype=np.float32))
    node = trace.check(tolerance=1e-5)
    assert [p.name for p in node.inputs] == ["depth", "points"]
