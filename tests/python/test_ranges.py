"""Kernels that add to arrays at indices that threads share: on several threads the sums must be those of one."""

import numpy as np
import pytest

import inkle as wp

N = 100_000
LAUNCHES = 25


@wp.kernel
def pairs(
    ends: wp.array2d(dtype=int),
    a: wp.array(dtype=wp.vec3i),
    b: wp.array(dtype=wp.vec3i),
    total: wp.array(dtype=int),
):
    e = wp.tid()
    i, j = ends[e, 0], ends[e, 1]
    v = wp.vec3i(1, e, 2)
    wp.atomic_add(a, i, v)
    wp.atomic_sub(a, j, v)
    wp.atomic_add(b, j, v)
    if e % 3 == 0:
        wp.atomic_add(b, i, v)
    wp.atomic_add(total, 0, 1)


def expected(ends):
    e = np.arange(len(ends))
    v = np.stack([np.ones_like(e), e, np.full_like(e, 2)], 1)
    a, b = np.zeros((N, 3), int), np.zeros((N, 3), int)
    np.add.at(a, ends[:, 0], v)
    np.subtract.at(a, ends[:, 1], v)
    np.add.at(b, ends[:, 1], v)
    np.add.at(b, ends[::3, 0], v[::3])
    return a, b


def grid():
    at = np.arange(N).reshape(250, 400)
    return np.concatenate(
        [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((at[:, :-1], at[:, 1:]), (at[:-1], at[1:]))]
    )


RANDOM = np.random.default_rng(5)
MESHES = {
    "a chain": lambda: np.stack([np.arange(N - 1), np.arange(1, N)], 1),
    "a grid": grid,
    "a grid from its end": lambda: grid()[::-1],
    "in any order": lambda: RANDOM.integers(0, N, (200_000, 2)),
    "few places": lambda: RANDOM.integers(0, 50, (200_000, 2)),
    "counted from the end": lambda: np.stack([np.arange(N), np.arange(N) - N], 1),
}


@pytest.mark.parametrize("mesh", MESHES)
def test_the_sums_are_those_of_one_thread(mesh):
    ends = MESHES[mesh]()
    launches(ends)


@pytest.mark.parametrize("size", [1, 15, 17, 33, 1000, 40_001])
@pytest.mark.parametrize("dtype", [wp.vec2, wp.vec3, wp.vec4, wp.vec2i, wp.vec3i, wp.types.vector(4, wp.uint32)])
def test_elements_of_few_numbers_in_any_order(dtype, size):
    @wp.kernel(module="unique")
    def move(at: wp.array2d(dtype=int), x: wp.array(dtype=dtype), y: wp.array(dtype=dtype), z: wp.array(dtype=dtype)):
        s = wp.tid()
        i, j = at[s, 0], at[s, 1]
        v = x[i] + x[j]
        wp.atomic_add(y, i, v)
        wp.atomic_sub(z, j, v)

    n = 500
    at = RANDOM.integers(-n, n, (size, 2)).astype(np.int32)
    at[: size // 4, 1] = 7
    x = RANDOM.integers(0, 9, (n, len(dtype()))).astype(np.int64)
    arrays = [wp.array(v, dtype=dtype, device="cpu") for v in (x, 0 * x, 0 * x)]
    for _ in range(3):
        wp.launch(move, size, [wp.array(at, dtype=int, device="cpu"), *arrays], device="cpu")
    y, z = np.zeros_like(x), np.zeros_like(x)
    np.add.at(y, at[:, 0], 3 * (x[at[:, 0]] + x[at[:, 1]]))
    np.subtract.at(z, at[:, 1], 3 * (x[at[:, 0]] + x[at[:, 1]]))
    found_y, found_z = (v.numpy() for v in arrays[1:])
    np.testing.assert_array_equal(found_y, y.astype(found_y.dtype))
    np.testing.assert_array_equal(found_z, z.astype(found_z.dtype))


@wp.kernel
def columns(x: wp.array2d(dtype=int), of_columns: wp.array(dtype=int), of_rows: wp.array(dtype=int)):
    i, j = wp.tid()
    wp.atomic_add(of_columns, j, x[i, j])
    wp.atomic_sub(of_rows, i, x[i, j])


@pytest.mark.parametrize("shape", [(700, 900), (1, 600_000), (600_000, 1)])
def test_threads_that_share_an_index_add_to_one_element(shape):
    x = RANDOM.integers(0, 100, shape).astype(np.int32)
    numbers = wp.array(x, dtype=int, device="cpu")
    of_rows, of_columns = (wp.zeros(n, dtype=int, device="cpu") for n in shape)
    for _ in range(LAUNCHES):
        wp.launch(columns, shape, [numbers, of_columns, of_rows], device="cpu")
    np.testing.assert_array_equal(of_columns.numpy(), LAUNCHES * x.sum(0))
    np.testing.assert_array_equal(of_rows.numpy(), -LAUNCHES * x.sum(1))


def test_meshes_in_turn_do_not_mix():
    meshes = [make() for make in MESHES.values()]
    for _ in range(3):
        for ends in meshes:
            launches(ends, 5)


def launches(ends, count=LAUNCHES):
    edges = wp.array(ends.astype(np.int32), dtype=int, device="cpu")
    a, b = (wp.zeros(N, dtype=wp.vec3i, device="cpu") for _ in range(2))
    total = wp.zeros(1, dtype=int, device="cpu")
    for _ in range(count):
        wp.launch(pairs, len(ends), [edges, a, b, total], device="cpu")
    want_a, want_b = expected(ends)
    np.testing.assert_array_equal(a.numpy(), (count * want_a).astype(np.int32))
    np.testing.assert_array_equal(b.numpy(), (count * want_b).astype(np.int32))
    assert total.numpy()[0] == count * len(ends)
