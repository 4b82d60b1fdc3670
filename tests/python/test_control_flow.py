"""if, for, while, break, continue, early return; unrolled and dynamic loops."""

import numpy as np
import pytest
from _support import config, differs_from_warp, kernel_from, run
from _wp import wp


@wp.kernel
def classify(x: wp.array(dtype=float), out: wp.array(dtype=int)):
    i = wp.tid()
    v = x[i]
    if v < -1.0:
        kind = 0
    elif v < 0.0:
        kind = 1
    elif v == 0.0:
        kind = 2
    else:
        if v < 1.0:
            kind = 3
        else:
            kind = 4
    out[i] = kind


def test_if_elif_else(device):
    x = wp.array([-5.0, -0.5, 0.0, 0.25, 9.0], dtype=float, device=device)
    assert run(classify, int, 5, x, dim=5, device=device).tolist() == [0, 1, 2, 3, 4]


@wp.kernel
def conditional(n: int, out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = 10 if i < n else (20 if i == n else 30)


def test_conditional_expression(device):
    assert run(conditional, int, 5, 2, dim=5, device=device).tolist() == [10, 10, 20, 30, 30]


@wp.kernel
def guarded_load(a: wp.array(dtype=float), i: int, out: wp.array(dtype=float)):
    out[0] = a[i] if i < a.shape[0] else -1.0


@differs_from_warp("both sides of a conditional expression are evaluated")
def test_conditional_expression_evaluates_one_side(device):
    a = wp.array([1.0, 2.0], dtype=float, device=device)
    assert run(guarded_load, float, 1, a, 1 << 30, device=device).tolist() == [-1.0]


@wp.kernel
def ranges(n: int, step: int, out: wp.array2d(dtype=int)):
    for i in range(n):
        out[0, i] = i + 1
    for i in range(2, n):
        out[1, i] = i + 1
    for i in range(0, n, 2):
        out[2, i] = i + 1
    for i in range(n - 1, -1, -1):
        out[3, i] = i + 1
    for i in range(n - 1, 0, -3):
        out[4, i] = i + 1
    for i in range(0, n, -1):
        out[5, i] = i + 1
    for i in range(0, n * step, step):
        out[6, wp.abs(i) / 2] += 1
    for i in range(3, 3):
        out[7, i] = 1


@pytest.mark.parametrize("step", [2, -2])
def test_range_forms(device, step):
    n = 7
    want = np.zeros((8, n), dtype=np.int32)
    for row, r in enumerate(
        [range(n), range(2, n), range(0, n, 2), range(n - 1, -1, -1), range(n - 1, 0, -3), range(0, n, -1)]
    ):
        want[row, list(r)] = np.array(list(r)) + 1
    want[6] = 1
    np.testing.assert_array_equal(run(ranges, int, (8, n), n, step, device=device), want)


LITERAL_RANGES = [
    "6",
    "2, 6",
    "0, 6, 2",
    "5, -1, -1",
    "6, 0, -4",
    "3, 3",
    "0, 5, -1",
    "-3, 3",
    "-1, -7, -2",
    "0, 40, 3",
]


@pytest.mark.parametrize("unroll", [0, 1, 16, 1000])
@pytest.mark.parametrize("arguments", LITERAL_RANGES)
def test_literal_ranges_unrolled_or_not(tmp_path, arguments, unroll):
    body = f"""
    s = int(0)
    for i in range({arguments}):
        if i == 1:
            continue
        out[s] = i
        s += 1
        if i == 33:
            break
    out[49] = s
    """
    values = [i for i in eval(f"range({arguments})") if i != 1]
    values = values[: values.index(33) + 1] if 33 in values else values
    with config(max_unroll=unroll):
        kernel = kernel_from(tmp_path, body, "out: wp.array(dtype=int)")
        got = run(kernel, int, 50)
    assert got[: len(values)].tolist() == values and got[49] == len(values)


@pytest.mark.parametrize("unroll", [0, 1000])
def test_break_and_continue_act_on_the_innermost_loop(device, tmp_path, unroll):
    def reference(n, m):
        total = 0
        for i in range(5):
            for j in range(n):
                if j == i:
                    continue
                k = 0
                while True:
                    k += 1
                    if k > m:
                        break
                    if k % 2 == 0:
                        continue
                    total += 100 * i + 10 * j + k
                if j > 3:
                    break
            if i == 3:
                break
        return total

    body = """
    total = int(0)
    for i in range(5):
        for j in range(n):
            if j == i:
                continue
            k = int(0)
            while True:
                k += 1
                if k > m:
                    break
                if k % 2 == 0:
                    continue
                total += 100 * i + 10 * j + k
            if j > 3:
                break
        if i == 3:
            break
    out[0] = total
    """
    with config(max_unroll=unroll):
        kernel = kernel_from(tmp_path, body, "n: int, m: int, out: wp.array(dtype=int)")
        for n, m in ((0, 3), (3, 4), (7, 5)):
            assert run(kernel, int, 1, n, m, device=device)[0] == reference(n, m), (n, m)


@wp.kernel
def collatz(x: wp.array(dtype=int), steps: wp.array(dtype=int)):
    i = wp.tid()
    n = x[i]
    count = int(0)
    while n != 1:
        if n % 2 == 0:
            n = n / 2
        else:
            n = 3 * n + 1
        count += 1
    steps[i] = count


def test_while_runs_a_different_number_of_times_per_thread(device):
    def steps(n):
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    x = list(range(1, 40))
    assert run(collatz, int, len(x), wp.array(x, dtype=int, device=device), dim=len(x), device=device).tolist() == [
        steps(n) for n in x
    ]


@wp.kernel
def early_return(n: int, out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = 1
    if i == 0:
        return
    out[i] = 2
    for j in range(n):
        if j == i:
            for k in range(10):
                out[i] += 10
                if k == j:
                    return
        if i == 3:
            while True:
                out[i] = 77
                return
    out[i] += 1000


def test_return_leaves_every_loop(device):
    # Threads 1 and 2 return inside the innermost loop, thread 3 inside the while, 4 and 5 never meet j == i.
    assert run(early_return, int, 6, 4, dim=6, device=device).tolist() == [1, 22, 32, 77, 1002, 1002]


@wp.func
def find_product(k: int, target: int):
    for i in range(10):
        for j in range(k):
            if i * j == target:
                return i * 100 + j
    return -1


@wp.kernel
def search(k: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = find_product(k[i], 6)


def test_return_from_a_loop_in_a_function(device):
    assert run(search, int, 4, wp.array([5, 0, 7, 2], dtype=int, device=device), dim=4, device=device).tolist() == [
        203,
        -1,
        106,
        601,
    ]


@wp.func
def countdown(n: int) -> int:
    m = n
    while True:
        m -= 3
        if m < 0:
            return m


@wp.kernel
def endless(out: wp.array(dtype=int)):
    out[wp.tid()] = countdown(wp.tid())


def test_while_true_that_only_returns(device):
    assert run(endless, int, 4, dim=4, device=device).tolist() == [-3, -2, -1, -3]


@wp.kernel
def loop_variable(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        out[0] = i
    out[1] = i
    for j in range(n):
        out[2] += 1
        j = j + 1
    out[3] = j
    limit = n
    for _k in range(limit):
        limit = 2
        out[4] += 1
    for k in range(4):
        out[5] += k
        k = k + 10
    out[6] = k


def test_loop_variable_and_bounds_behave_as_in_python(device):
    # The last value is kept, assigning it does not change the iteration, and bounds are read once.
    assert run(loop_variable, int, 7, 5, device=device).tolist() == [4, 4, 5, 5, 5, 6, 13]


@wp.kernel
def nested_state(n: int, out: wp.array2d(dtype=float)):
    i = wp.tid()
    a = float(0.0)
    b = float(1.0)
    for j in range(n):
        if j % 2 == 0:
            a = a + b
            if a > 10.0:
                b = -b
        else:
            a, b = b, a
        for k in range(j):
            if k > i:
                break
            b += 1.0
    out[0, i] = a
    out[1, i] = b


def test_values_carried_through_nested_loops(device):
    def reference(i, n):
        a, b = 0.0, 1.0
        for j in range(n):
            if j % 2 == 0:
                a = a + b
                if a > 10.0:
                    b = -b
            else:
                a, b = b, a
            for k in range(j):
                if k > i:
                    break
                b += 1.0
        return a, b

    got = run(nested_state, float, (2, 6), 9, dim=6, device=device)
    np.testing.assert_array_equal(got.T, [reference(i, 9) for i in range(6)])


def test_literal_variable_may_change_in_a_loop_or_is_named(tmp_path):
    kernel = kernel_from(
        tmp_path, "total = 0\nfor i in range(n):\n    total += i\nout[0] = total", "n: int, out: wp.array(dtype=int)"
    )
    try:
        assert run(kernel, int, 1, 5)[0] == 10
    except Exception as error:
        assert "total" in str(error)


@differs_from_warp("the else of a loop is dropped")
@pytest.mark.parametrize("head", ["for i in range(n):", "while out[0] < n:"])
def test_loop_else_is_not_dropped(tmp_path, head):
    kernel = kernel_from(
        tmp_path, f"{head}\n    out[0] = out[0] + 1\nelse:\n    out[1] = 9", "n: int, out: wp.array(dtype=int)"
    )
    try:
        assert run(kernel, int, 2, 3).tolist() == [3, 9]
    except AssertionError:
        raise
    except Exception as error:
        assert "else" in str(error)


@pytest.mark.parametrize(
    "iterable",
    ["[1, 2, 3]", "(1, 2, 3)", "wp.vec3(1.0)", "out", "range(f)", "range(wp.int64(n))", "range()", "range(1, 2, 3, 4)"],
)
def test_only_int32_ranges_can_be_iterated(tmp_path, iterable):
    kernel = kernel_from(tmp_path, f"for i in {iterable}:\n    out[0] = 1")
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017, PT011
        wp.launch(kernel, dim=1, inputs=[3, 1.0, out], device="cpu")
    assert out.numpy()[0] == 0


@wp.kernel
def empty_body(n: int, out: wp.array(dtype=int)):
    """A docstring is not a statement."""
    pass
    for _i in range(n):
        pass
    if n > 3:
        pass
    else:
        out[0] = 1
    ...


def test_pass_and_docstring(device):
    assert run(empty_body, int, 1, 2, device=device)[0] == 1


@wp.kernel
def large_literal_loop(out: wp.array(dtype=int)):
    s = int(0)
    for i in range(100000):
        s += i % 7
    out[0] = s


def test_large_literal_loop_is_not_unrolled(device):
    assert run(large_literal_loop, int, 1, device=device)[0] == sum(i % 7 for i in range(100000))


@wp.kernel
def run_backwards(start: int, stop: int, step: int, count: wp.array(dtype=int), out: wp.array(dtype=int)):
    n = int(0)
    for i in reversed(range(start, stop, step)):
        out[n] = i
        n += 1
    count[0] = n
    m = int(0)
    for i in reversed(range(stop)):
        if i < 3:
            break
        m += i
    count[1] = m


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(-2, 8, 3), (-2, 7, 3), (9, -3, -2), (5, 5, 1), (5, 2, 1), (2, 5, -4), (0, 6, 1)]
)
def test_reversed_ranges(device, start, stop, step):
    count, out = wp.zeros(2, dtype=int, device=device), wp.zeros(20, dtype=int, device=device)
    wp.launch(run_backwards, dim=1, inputs=[start, stop, step, count, out], device=device)
    expected = list(reversed(range(start, stop, step)))
    assert out.numpy()[: count.numpy()[0]].tolist() == expected
    assert count.numpy()[1] == sum(i for i in range(stop) if i >= 3)


@wp.kernel
def run_backwards_unrolled(out: wp.array(dtype=int)):
    for i in reversed(range(1, 8, 3)):
        out[i] = wp.static(10 * i)


def test_reversed_constant_range_is_unrolled(device):
    assert run(run_backwards_unrolled, int, 8, device=device).tolist() == [0, 10, 0, 0, 40, 0, 0, 70]


def test_reversed_outside_a_loop(tmp_path):
    kernel = kernel_from(tmp_path, "x = reversed(range(3))\nout[0] = 1")
    with pytest.raises(Exception, match="reversed"):
        wp.launch(kernel, dim=1, inputs=[3, 1.0, wp.zeros(1, dtype=int, device="cpu")], device="cpu")
