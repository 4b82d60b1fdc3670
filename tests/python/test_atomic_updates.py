"""Atomic updates by many threads of one place, of few places and of many: however a device combines them, the result
is that of the updates one by one."""

import numpy as np
import pytest
from _wp import wp

SIZES = (1, 31, 33, 1000, 4099)
BLOCKS = (32, 96, 100, 256, 1024)
INTS = (wp.int32, wp.uint32, wp.int64, wp.uint64)
FLOATS = (wp.float32, wp.float64)


def numbers(dtype, n, seed=0):
    """Values whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    low = 0 if dtype in (wp.uint32, wp.uint64) else -50
    return rng.integers(low, 100, n).astype(wp.dtype_to_numpy(dtype))


def launches(kernel, size, inputs, device, blocks=BLOCKS):
    """Launches with every block size, and with grids that do not cover the launch."""
    for block in blocks:
        yield lambda block=block: wp.launch(kernel, dim=size, inputs=inputs(), device=device, block_dim=block)
    yield lambda: wp.launch(kernel, dim=size, inputs=inputs(), device=device, max_blocks=2, block_dim=64)


def sums_of(dtype):
    @wp.kernel(module="unique")
    def one_place(x: wp.array(dtype=dtype), out: wp.array(dtype=dtype), slot: int):
        wp.atomic_add(out, slot, x[wp.tid()])

    return one_place


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_a_sum_in_one_place(device, dtype):
    kernel = sums_of(dtype)
    for size in SIZES:
        values = numbers(dtype, size, size)
        x = wp.array(values, dtype=dtype, device=device)
        out = wp.zeros(3, dtype=dtype, device=device)

        for step in launches(kernel, size, lambda: [x, out, 1], device):  # noqa: B023
            out.zero_()
            step()
            np.testing.assert_array_equal(out.numpy(), [0, values.sum(), 0], err_msg=f"{size} threads")


def test_a_sum_of_elements_off_the_alignment(device):
    kernel = sums_of(wp.float32)
    values = numbers(wp.float32, 1003)
    x, out = wp.array(values, dtype=float, device=device), wp.zeros(1, dtype=float, device=device)
    for start, step in ((1, 1), (2, 1), (0, 3)):
        out.zero_()
        view = x[start::step]
        wp.launch(kernel, dim=view.shape[0], inputs=[view, out, 0], device=device)
        assert out.numpy()[0] == values[start::step].sum()


def test_halves_are_summed_in_one_place(device):
    kernel = sums_of(wp.float16)
    values = (np.arange(500) % 3).astype(np.float16)
    x, out = wp.array(values, dtype=wp.float16, device=device), wp.zeros(1, dtype=wp.float16, device=device)
    wp.launch(kernel, dim=500, inputs=[x, out, 0], device=device)
    assert out.numpy()[0] == values.sum()


def extremes_of(dtype):
    @wp.kernel(module="unique")
    def extremes(x: wp.array(dtype=dtype), low: wp.array(dtype=dtype), high: wp.array(dtype=dtype)):
        i = wp.tid()
        wp.atomic_min(low, 0, x[i])
        wp.atomic_max(high, 0, x[i])

    return extremes


@pytest.mark.parametrize("dtype", (*INTS, *FLOATS, wp.float16))
def test_extremes_in_one_place(device, dtype):
    kernel = extremes_of(dtype)
    for size in SIZES:
        values = numbers(dtype, size, size)
        x = wp.array(values, dtype=dtype, device=device)
        low, high = (wp.array([40], dtype=dtype, device=device) for _ in range(2))

        for step in launches(kernel, size, lambda: [x, low, high], device, (32, 100, 256)):  # noqa: B023
            low.fill_(40)
            high.fill_(40)
            step()
            assert (low.numpy()[0], high.numpy()[0]) == (min(40, values.min()), max(40, values.max()))


def test_extremes_prefer_numbers_to_nan(device):
    kernel = extremes_of(wp.float32)
    values = np.full(100, np.nan, dtype=np.float32)
    for numbers_at, start in (([], 2.0), ([7], 2.0), ([7, 90], np.nan)):
        values[numbers_at] = [3.0, -1.0][: len(numbers_at)]
        x = wp.array(values, dtype=float, device=device)
        low, high = (wp.array([start], dtype=float, device=device) for _ in range(2))
        wp.launch(kernel, dim=100, inputs=[x, low, high], device=device)
        want = [*values[numbers_at], start]
        assert low.numpy()[0] == np.nanmin(want)
        assert high.numpy()[0] == np.nanmax(want)


@wp.kernel
def bits(x: wp.array(dtype=wp.uint32), out: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    wp.atomic_and(out, 0, x[i] | wp.uint32(7))
    wp.atomic_or(out, 1, x[i])
    wp.atomic_xor(out, 2, x[i])


def test_bits_in_one_place(device):
    for size in SIZES:
        values = np.random.default_rng(size).integers(0, 2**31, size).astype(np.uint32)
        x = wp.array(values, dtype=wp.uint32, device=device)
        out = wp.zeros(3, dtype=wp.uint32, device=device)
        for step in launches(bits, size, lambda: [x, out], device):  # noqa: B023
            out.assign(np.array([2**32 - 1, 0, 0], dtype=np.uint32))
            step()
            want = [
                np.bitwise_and.reduce(values | 7),
                np.bitwise_or.reduce(values),
                np.bitwise_xor.reduce(values),
            ]
            np.testing.assert_array_equal(out.numpy(), want)


@wp.kernel
def by_remainder(x: wp.array(dtype=float), sums: wp.array(dtype=float), counts: wp.array(dtype=int)):
    i = wp.tid()
    if i % 3 == 0:
        wp.atomic_add(counts, 0, 1)
        if x[i] > 10.0:
            wp.atomic_add(sums, 0, x[i])
        else:
            wp.atomic_sub(sums, 1, x[i])
    elif i % 5 == 1:
        wp.atomic_add(counts, 1, i)
        wp.atomic_max(counts, 2, i)
    else:
        wp.atomic_add(sums, 2, 1.0)
        wp.atomic_add(counts, 3, 2)


def test_updates_under_diverging_conditions(device):
    for size in SIZES:
        values = numbers(wp.float32, size, size)
        x = wp.array(values, dtype=float, device=device)
        sums, counts = wp.zeros(3, dtype=float, device=device), wp.zeros(4, dtype=int, device=device)
        i = np.arange(size)
        third, fifth = i % 3 == 0, (i % 3 != 0) & (i % 5 == 1)
        other = ~third & ~fifth
        want = [
            values[third & (values > 10)].sum(),
            -values[third & (values <= 10)].sum(),
            other.sum(),
        ]
        want_counts = [third.sum(), i[fifth].sum(), i[fifth].max(initial=0), 2 * other.sum()]
        for step in launches(by_remainder, size, lambda: [x, sums, counts], device):  # noqa: B023
            sums.zero_()
            counts.zero_()
            step()
            np.testing.assert_array_equal(sums.numpy(), want)
            np.testing.assert_array_equal(counts.numpy(), want_counts)


@wp.kernel
def count_above(x: wp.array(dtype=float), limit: float, count: wp.array(dtype=int), total: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > limit:
        wp.atomic_add(count, 0, 1)
        wp.atomic_add(total, 0, x[i])


def test_a_condition_that_few_threads_meet(device):
    values = np.arange(3000, dtype=np.float32)
    x = wp.array(values, dtype=float, device=device)
    count, total = wp.zeros(1, dtype=int, device=device), wp.zeros(1, dtype=float, device=device)
    for limit in (-1.0, 1500.0, 2997.0, 2998.0):
        for step in launches(count_above, 3000, lambda: [x, limit, count, total], device):  # noqa: B023
            count.zero_()
            total.zero_()
            step()
            assert count.numpy()[0] == (values > limit).sum()
            assert total.numpy()[0] == values[values > limit].sum()


def test_what_no_thread_updates_is_not_touched(device):
    x = wp.zeros(300, dtype=float, device=device)
    empty, total = wp.empty(0, dtype=int, device=device), wp.array([-0.0], dtype=float, device=device)
    wp.launch(count_above, dim=300, inputs=[x, 0.0, empty, total], device=device)
    wp.synchronize_device(device)
    assert np.signbit(total.numpy()[0])
    negative = wp.full(300, -0.0, dtype=float, device=device)
    wp.launch(sums_of(wp.float32), dim=300, inputs=[negative, total, 0], device=device)
    assert np.signbit(total.numpy()[0]), "minus zero and minus zero is minus zero"


@wp.kernel
def in_loops(x: wp.array(dtype=float), sums: wp.array(dtype=float), counts: wp.array(dtype=int)):
    i = wp.tid()
    for j in range(i % 7):
        wp.atomic_add(sums, 0, x[i])
        wp.atomic_add(sums, 1 + j, 1.0)
    k = i
    while k > 0:
        if k % 2 == 1:
            wp.atomic_add(counts, 0, 1)
        k = k // 2
    wp.atomic_max(counts, 1, i % 7)


def test_updates_in_loops_of_differing_length(device):
    for size in SIZES:
        values = numbers(wp.float32, size, size)
        x = wp.array(values, dtype=float, device=device)
        sums, counts = wp.zeros(8, dtype=float, device=device), wp.zeros(2, dtype=int, device=device)
        rounds = np.arange(size) % 7
        want = [(values * rounds).sum(), *[(rounds > j).sum() for j in range(7)]]
        ones = sum(int(i).bit_count() for i in range(size))
        for step in launches(in_loops, size, lambda: [x, sums, counts], device):  # noqa: B023
            sums.zero_()
            counts.zero_()
            step()
            np.testing.assert_array_equal(sums.numpy(), want)
            np.testing.assert_array_equal(counts.numpy(), [ones, rounds.max()])


@wp.kernel
def scattered(
    places: wp.array(dtype=int),
    x: wp.array(dtype=float),
    sums: wp.array(dtype=float),
    counts: wp.array(dtype=int),
    low: wp.array(dtype=float),
):
    i = wp.tid()
    p = places[i]
    wp.atomic_add(sums, p, x[i])
    wp.atomic_add(counts, p, 1)
    wp.atomic_min(low, p, x[i])


@pytest.mark.parametrize("bins", [1, 2, 9, 2000])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_updates_of_some_places(device, bins, is_sorted):
    size = 3001
    places = np.random.default_rng(bins).integers(0, bins, size).astype(np.int32)
    places = np.sort(places) if is_sorted else places
    values = numbers(wp.float32, size)
    arrays = [wp.array(places, dtype=int, device=device), wp.array(values, dtype=float, device=device)]
    sums, low = (wp.zeros(bins, dtype=float, device=device) for _ in range(2))
    counts = wp.zeros(bins, dtype=int, device=device)
    want_low = np.zeros(bins)
    np.minimum.at(want_low, places, values)
    for step in launches(scattered, size, lambda: [*arrays, sums, counts, low], device):
        for array in (sums, counts, low):
            array.zero_()
        step()
        np.testing.assert_array_equal(sums.numpy(), np.bincount(places, values, bins))
        np.testing.assert_array_equal(counts.numpy(), np.bincount(places, minlength=bins))
        np.testing.assert_array_equal(low.numpy(), want_low)


@wp.kernel
def compact(x: wp.array(dtype=float), count: wp.array(dtype=int), kept: wp.array(dtype=int)):
    i = wp.tid()
    if x[i] > 0.0:
        at = wp.atomic_add(count, 0, 1)
        kept[at] = i
    else:
        at = wp.atomic_sub(count, 1, 3)
        kept[kept.shape[0] - 1 + at // 3] = i


def test_old_values_number_the_threads(device):
    for size in SIZES:
        values = numbers(wp.float32, size, size)
        x, count = wp.array(values, dtype=float, device=device), wp.zeros(2, dtype=int, device=device)
        kept = wp.zeros(size, dtype=int, device=device)
        positive = np.flatnonzero(values > 0)
        for step in launches(compact, size, lambda: [x, count, kept], device):  # noqa: B023
            count.zero_()
            step()
            np.testing.assert_array_equal(count.numpy(), [len(positive), -3 * (size - len(positive))])
            got = kept.numpy()
            np.testing.assert_array_equal(np.sort(got[: len(positive)]), positive)
            np.testing.assert_array_equal(np.sort(got), np.arange(size))


@wp.kernel
def old_sums(x: wp.array(dtype=int), total: wp.array(dtype=int), old: wp.array(dtype=int)):
    i = wp.tid()
    old[i] = wp.atomic_add(total, 0, x[i])


def test_old_values_are_those_of_some_order(device):
    values = np.random.default_rng(5).integers(1, 9, 2500).astype(np.int32)
    x, total = wp.array(values, dtype=int, device=device), wp.zeros(1, dtype=int, device=device)
    old = wp.zeros(2500, dtype=int, device=device)
    for step in launches(old_sums, 2500, lambda: [x, total, old], device):
        total.zero_()
        step()
        order = np.argsort(old.numpy())
        running = np.concatenate([[0], np.cumsum(values[order])])
        np.testing.assert_array_equal(old.numpy()[order], running[:-1])
        assert total.numpy()[0] == running[-1]


@wp.kernel
def in_two_dimensions(
    x: wp.array2d(dtype=float),
    rows: wp.array(dtype=float),
    columns: wp.array(dtype=float),
    total: wp.array(dtype=float),
):
    i, j = wp.tid()
    wp.atomic_add(rows, i, x[i, j])
    wp.atomic_add(columns, j, x[i, j])
    wp.atomic_add(total, 0, x[i, j])


@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (64, 32), (50, 129)])
def test_updates_in_a_launch_of_two_dimensions(device, shape):
    values = numbers(wp.float32, shape[0] * shape[1]).reshape(shape)
    x = wp.array(values, dtype=float, device=device)
    rows, columns = (wp.zeros(n, dtype=float, device=device) for n in shape)
    total = wp.zeros(1, dtype=float, device=device)
    for step in launches(in_two_dimensions, shape, lambda: [x, rows, columns, total], device):
        for array in (rows, columns, total):
            array.zero_()
        step()
        np.testing.assert_array_equal(rows.numpy(), values.sum(axis=1))
        np.testing.assert_array_equal(columns.numpy(), values.sum(axis=0))
        assert total.numpy()[0] == values.sum()


@wp.kernel
def of_vectors(x: wp.array(dtype=wp.vec3), total: wp.array(dtype=wp.vec3), places: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(total, places[i], x[i])
    wp.atomic_sub(total, 3, 2.0 * x[i])


def test_vectors(device):
    values = numbers(wp.float32, 3 * 777).reshape(-1, 3)
    places = (np.arange(777) // 300).astype(np.int32)
    x = wp.array(values, dtype=wp.vec3, device=device)
    where, total = wp.array(places, dtype=int, device=device), wp.zeros(4, dtype=wp.vec3, device=device)
    want = np.array([*[values[places == p].sum(axis=0) for p in range(3)], -2 * values.sum(axis=0)])
    for step in launches(of_vectors, 777, lambda: [x, total, where], device):
        total.zero_()
        step()
        np.testing.assert_array_equal(total.numpy(), want)


@wp.kernel
def seen_at_once(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    wp.atomic_add(x, 0, 5)
    wp.atomic_max(x, 0, 3)
    out[0] = x[0]
    wp.atomic_add(x, 0, 2)
    for k in range(3):
        wp.atomic_add(x, 1, 1)
        out[1 + k] = x[1]
    wp.atomic_add(x, 2, 4)
    wp.atomic_min(x, 2, 1)
    wp.atomic_max(x, 2, 2)


def test_a_thread_sees_its_own_updates(device):
    x, out = wp.zeros(3, dtype=int, device=device), wp.zeros(4, dtype=int, device=device)
    wp.launch(seen_at_once, dim=1, inputs=[x, out], device=device)
    np.testing.assert_array_equal(out.numpy(), [5, 1, 2, 3])
    np.testing.assert_array_equal(x.numpy(), [7, 3, 2])


@wp.kernel
def seen_by_all(top: wp.array(dtype=int), tops: wp.array(dtype=int), out: wp.array2d(dtype=int)):
    i = wp.tid()
    wp.atomic_max(top, 0, i)
    out[0, i] = top[0]
    wp.atomic_max(tops, i / 40, i)
    out[1, i] = tops[i / 40]
    if i % 3 == 0:
        wp.atomic_max(tops, 0, i)
        out[1, i] = wp.min(out[1, i], tops[0])


def test_all_threads_see_at_least_their_own_updates(device):
    size = 5000
    top, tops = wp.zeros(1, dtype=int, device=device), wp.zeros(size // 40, dtype=int, device=device)
    out = wp.zeros((2, size), dtype=int, device=device)
    for step in launches(seen_by_all, size, lambda: [top, tops, out], device):
        for array in (top, tops, out):
            array.zero_()
        step()
        assert (out.numpy() >= np.arange(size)).all()
        assert top.numpy()[0] == size - 1


@wp.func
def add_twice(sums: wp.array(dtype=float), at: int, v: float):
    wp.atomic_add(sums, at, v)
    wp.atomic_add(sums, at + 1, v)


@wp.kernel
def by_a_function(x: wp.array(dtype=float), sums: wp.array(dtype=float)):
    i = wp.tid()
    add_twice(sums, 0, x[i])
    add_twice(sums, 1 + i % 2, 1.0)


def test_updates_in_functions(device):
    values = numbers(wp.float32, 1001)
    x, sums = wp.array(values, dtype=float, device=device), wp.zeros(4, dtype=float, device=device)
    for step in launches(by_a_function, 1001, lambda: [x, sums], device):
        sums.zero_()
        step()
        np.testing.assert_array_equal(sums.numpy(), [values.sum(), values.sum() + 501, 1001, 500])


@wp.kernel(enable_backward=True)
def scaled(x: wp.array(dtype=float), scale: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, scale[0] * x[i] + scale[1] * x[i] * x[i])


def test_gradients_of_what_all_threads_read(device):
    values = numbers(wp.float32, 2000) % 4
    x = wp.array(values, dtype=float, device=device, requires_grad=True)
    scale = wp.array([2.0, 3.0], dtype=float, device=device, requires_grad=True)
    loss = wp.zeros(1, dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(scaled, dim=2000, inputs=[x, scale, loss], device=device)
    tape.backward(loss)
    assert loss.numpy()[0] == 2 * values.sum() + 3 * (values**2).sum()
    np.testing.assert_array_equal(scale.grad.numpy(), [values.sum(), (values**2).sum()])
    np.testing.assert_array_equal(x.grad.numpy(), 2 + 6 * values)
