"""Kernels that update elements and then those beside them, which are taken from where the first update has them."""

from typing import Any

import numpy as np
import pytest

import inkle as wp

N = 1000
RANDOM = np.random.default_rng(7)


def ends(step):
    """Pairs of indices `step` apart: mostly counting up, a few in any order, some counted from the end."""
    first = np.concatenate([np.arange(20, 700), RANDOM.integers(20, N - 20, 50), np.arange(N - 20 - 64, N - 20)])
    pairs = np.stack([first, first + step], 1)
    pairs[100:116] -= N
    return pairs.astype(np.int32)


def integers(dtype):
    return RANDOM.integers(-9, 9, (N, *np.array(dtype()).shape)).astype(np.int64)


def run(kernel, dtype, pairs, arrays):
    """Launches a kernel a few times and gives what the arrays hold then."""
    given = [wp.array(a, dtype=dtype, device="cpu") for a in arrays]
    at = wp.array(pairs, dtype=int, device="cpu")
    for _ in range(3):
        wp.launch(kernel, len(pairs), [at, *given], device="cpu")
    return [a.numpy().astype(np.int64) for a in given]


@wp.func
def mixed(a: Any, b: Any):
    """b; a kernel with as much to do as this has looks at its indices once, and code of its own where they count up."""
    c = b
    for _ in range(8):
        c = (c + a) - (b + a) + b
    for _ in range(8):
        c = (c - b) + (a + b) - a
    return c


@pytest.mark.parametrize("step", [-16, -3, -2, -1, 0, 1, 2, 3, 16])
@pytest.mark.parametrize("dtype", [wp.vec2, wp.vec3, wp.vec4, wp.vec3d, wp.vec3h, wp.vec3i, wp.vec2ub, wp.quat])
def test_both_ends_of_edges(dtype, step):
    @wp.kernel(module="unique")
    def pull(
        at: wp.array2d(dtype=int),
        x: wp.array(dtype=dtype),
        u: wp.array(dtype=dtype),
        y: wp.array(dtype=dtype),
        z: wp.array(dtype=dtype),
    ):
        s = wp.tid()
        i, j = at[s, 0], at[s, 1]
        v = mixed(x[i], x[j]) - x[i]
        w = u[j] + u[i]
        wp.atomic_add(y, i, v)
        wp.atomic_sub(y, j, v)
        wp.atomic_add(z, j, v + w)
        wp.atomic_add(z, i, w)

    pairs, x, u, y, z = ends(step), *(integers(dtype) % 3 for _ in range(4))
    i, j = pairs.T
    found = run(pull, dtype, pairs, [x, u, y, z])[2:]
    v, w = x[j] - x[i], u[j] + u[i]
    for _ in range(3):
        for to, at, value in ((y, i, v), (y, j, -v), (z, j, v + w), (z, i, w)):
            np.add.at(to, at, value)
    for got, expected in zip(found, (y, z), strict=True):
        np.testing.assert_array_equal(got, expected % 256 if dtype is wp.vec2ub else expected)


@pytest.mark.parametrize("step", [-1, 1])
def test_three_updates_in_a_row(step):
    @wp.kernel(module="unique")
    def spread(
        at: wp.array2d(dtype=int), x: wp.array(dtype=wp.vec3), u: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3)
    ):
        s = wp.tid()
        i, j = at[s, 0], at[s, 1]
        k = j + (j - i)
        v = mixed(x[j], x[i]) + 2.0 * x[j] + 3.0 * x[k]
        w = u[i] - 2.0 * u[j] + u[k]
        wp.atomic_add(y, i, v)
        wp.atomic_sub(y, j, w)
        wp.atomic_add(y, k, v + w)

    pairs = ends(step) % N
    x, u, y = (integers(wp.vec3) for _ in range(3))
    found = run(spread, wp.vec3, pairs, [x, u, y])[2]
    i, j = pairs.T
    k = 2 * j - i
    v, w = x[i] + 2 * x[j] + 3 * x[k], u[i] - 2 * u[j] + u[k]
    for _ in range(3):
        for at, value in ((i, v), (j, -w), (k, v + w)):
            np.add.at(y, at, value)
    np.testing.assert_array_equal(found, y)


@pytest.mark.parametrize("step", [-1, 1])
def test_what_is_written_in_between_counts(step):
    @wp.kernel(module="unique")
    def move(
        at: wp.array2d(dtype=int),
        x: wp.array(dtype=wp.vec3),
        u: wp.array(dtype=wp.vec3),
        y: wp.array(dtype=wp.vec3),
        other: wp.array(dtype=wp.vec3),
    ):
        s = wp.tid()
        i, j = at[s, 0], at[s, 1]
        v = mixed(x[i], x[j]) - x[i]
        w = u[j] + u[i]
        wp.atomic_add(y, i, v)
        wp.atomic_add(other, j, w)
        wp.atomic_sub(y, j, v)

    pairs, x, u, y = ends(step), *(integers(wp.vec3) for _ in range(3))
    given = [wp.array(a, dtype=wp.vec3, device="cpu") for a in (x, u, y)]
    # Two parameters, one array.
    wp.launch(move, len(pairs), [wp.array(pairs, dtype=int, device="cpu"), *given, given[2]], device="cpu")
    i, j = pairs.T
    for at, value in ((i, x[j] - x[i]), (j, u[j] + u[i]), (j, x[i] - x[j])):
        np.add.at(y, at, value)
    np.testing.assert_array_equal(given[2].numpy(), y)
