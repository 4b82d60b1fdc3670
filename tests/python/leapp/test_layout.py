"""Views of memory: which operations make one tensor of another, and which tensors never meet."""

import random

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

from inkle.leapp._layout import Layout, are_disjoint, intersection, view_steps  # noqa: E402

BASE = torch.arange(4 * 6 * 5, dtype=torch.float32).reshape(4, 6, 5)


def piece(rng):
    view = BASE
    for axis in range(3):
        start = rng.randrange(view.shape[axis])
        view = view.narrow(axis, start, rng.randrange(1, view.shape[axis] - start + 1))
        if rng.random() < 0.3:
            view = view[(slice(None),) * axis + (slice(None, None, 2),)]
    if rng.random() < 0.3:
        view = view.permute(*rng.sample(range(3), 3))
    if rng.random() < 0.3:
        view = view.select(rng.randrange(view.dim()), 0)
    return view


def made(tensor, steps):
    for function, *arguments in steps:
        tensor = function(tensor, *arguments)
    return tensor


def test_random_views():
    rng = random.Random(7)
    found = apart = really_apart = met = 0
    for _ in range(4000):
        a, b = piece(rng), piece(rng)
        have, get = set(a.flatten().tolist()), set(b.flatten().tolist())
        if are_disjoint(Layout.of(a), Layout.of(b)):
            apart += 1
            assert not have & get
        really_apart += not have & get
        both = intersection(Layout.of(a), Layout.of(b))
        if both is not None:
            met += 1
            mine = made(a, view_steps(Layout.of(a), both))
            assert set(mine.flatten().tolist()) == have & get and Layout.of(mine) == both
        steps = view_steps(Layout.of(a), Layout.of(b))
        if steps is not None:
            found += 1
            view = made(a, steps)
            assert torch.equal(view, b) and Layout.of(view) == Layout.of(b)
            if all(function is not torch.ops.aten.as_strided.default for function, *_ in steps):
                assert torch.equal(made(a.contiguous(), steps), b), "steps do not depend on strides"
    assert found > 50 and met > 200 and apart > 0.9 * really_apart


def test_views_of_other_types_and_places():
    x = torch.arange(6, dtype=torch.int32)
    assert torch.equal(
        made(x, view_steps(Layout.of(x), Layout.of(x.view(torch.float32)[2:]))), x.view(torch.float32)[2:]
    )
    assert torch.equal(made(x, view_steps(Layout.of(x), Layout.of(x.view(torch.int16)[3:7]))), x.view(torch.int16)[3:7])
    assert view_steps(Layout.of(x[::2]), Layout.of(x.view(torch.int16)[:1])) is None
    assert view_steps(Layout.of(x), Layout.of(torch.arange(6, dtype=torch.int32))) is None
    assert view_steps(Layout.of(x[:3]), Layout.of(x)) is None
    assert Layout.of(torch.empty(0)) is None and Layout.of(torch.empty(3, device="meta")) is None
