"""and, or, not and chained comparisons: results and what is evaluated."""

import itertools

import numpy as np
from _support import differs_from_warp, run
from _wp import wp


@wp.kernel
def logic(a: wp.array(dtype=wp.bool), b: wp.array(dtype=wp.bool), out: wp.array2d(dtype=wp.bool)):
    i = wp.tid()
    x = a[i]
    y = b[i]
    out[0, i] = x and y
    out[1, i] = x or y
    out[2, i] = not x
    out[3, i] = not x and y or x and not y
    out[4, i] = x == y
    out[5, i] = x != y


def test_truth_tables(device):
    a, b = np.array(list(itertools.product([False, True], repeat=2))).T
    got = run(
        logic,
        wp.bool,
        (6, 4),
        wp.array(a, dtype=wp.bool, device=device),
        wp.array(b, dtype=wp.bool, device=device),
        dim=4,
        device=device,
    )
    np.testing.assert_array_equal(got, [a & b, a | b, ~a, a ^ b, a == b, a != b])


@wp.kernel
def chained(x: int, y: int, f: float, out: wp.array(dtype=int)):
    out[0] = int(0 < x < 10)
    out[1] = int(0 < x <= y < 10)
    out[2] = int(1.0 < f < 2.0)
    out[3] = int(x < y == 5)
    out[4] = int(x > y < 10)
    out[5] = int(not 0 < x < 3)


def test_chained_comparison(device):
    assert run(chained, int, 6, 3, 5, 2.5, device=device).tolist() == [1, 1, 0, 1, 0, 1]
    assert run(chained, int, 6, 10, 5, 1.5, device=device).tolist() == [0, 0, 1, 0, 1, 1]


@wp.func
def tick(counter: wp.array(dtype=int), slot: int, answer: bool) -> bool:
    counter[slot] = counter[slot] + 1
    return answer


@wp.func
def tick_value(counter: wp.array(dtype=int), slot: int, answer: int) -> int:
    counter[slot] = counter[slot] + 1
    return answer


@wp.kernel
def counted(flag: bool, counter: wp.array(dtype=int), out: wp.array(dtype=int)):
    if flag and tick(counter, 0, True):
        out[0] = 1
    if flag or tick(counter, 1, False):
        out[1] = 1
    value = not flag and tick(counter, 2, True) and tick(counter, 3, False) and tick(counter, 4, True)
    if value:
        out[2] = 1
    x = 1.0 if flag or tick(counter, 5, True) else 2.0
    out[3] = int(x)
    while flag and tick(counter, 6, False):
        out[4] = 1


@differs_from_warp("and/or evaluate both operands")
def test_and_or_stop_at_the_deciding_operand(device):
    for flag, ticks, want in (
        (True, [1, 0, 0, 0, 0, 0, 1], [1, 1, 0, 1, 0]),
        (False, [0, 1, 1, 1, 0, 1, 0], [0, 0, 0, 1, 0]),
    ):
        counter = wp.zeros(7, dtype=int, device=device)
        got = run(counted, int, 5, flag, counter, device=device)
        assert got.tolist() == want, flag
        assert counter.numpy().tolist() == ticks, flag


@wp.kernel
def chained_calls(counter: wp.array(dtype=int), out: wp.array(dtype=int)):
    out[0] = int(1 < tick_value(counter, 0, 5) < 10)
    out[1] = int(1 < tick_value(counter, 1, 0) < tick_value(counter, 2, 7))


@differs_from_warp("the middle operand is evaluated more than once, or the last although the first decided")
def test_chained_comparison_evaluates_each_operand_at_most_once(device):
    counter = wp.zeros(3, dtype=int, device=device)
    assert run(chained_calls, int, 2, counter, device=device).tolist() == [1, 0]
    assert counter.numpy().tolist() == [1, 1, 0]


@wp.kernel
def optional(opt: wp.array(dtype=int), index: wp.array(dtype=int), hits: wp.array(dtype=int)):
    i = wp.tid()
    j = index[i]
    if opt and 0 <= j < opt.shape[0] and opt[j] == 3:
        hits[i] = 1
    if not opt or j < 0 or j >= opt.shape[0] or opt[j] == 3:
        hits[i] += 10


@differs_from_warp("and/or evaluate both operands")
def test_guards_protect_missing_arrays_and_bad_indices(device):
    index = wp.array([0, -1, 2, 1 << 30], dtype=int, device=device)
    assert run(optional, int, 4, None, index, dim=4, device=device).tolist() == [10, 10, 10, 10]
    opt = wp.array([3, 4, 5], dtype=int, device=device)
    assert run(optional, int, 4, opt, index, dim=4, device=device).tolist() == [11, 10, 0, 10]
