"""`Tape`: launches, copies, fills and functions, run backwards."""

import numpy as np
import pytest
from _wp import ON_WARP, wp

wp.set_module_options({"enable_backward": True})


@wp.kernel
def scale(k: float, a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = k * a[i]


@wp.kernel
def square_into(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(b, i, a[i] * a[i])


@wp.kernel
def total(a: wp.array(dtype=float), result: wp.array(dtype=float)):
    wp.atomic_add(result, 0, a[wp.tid()])


def values(data, device):
    return wp.array(data, dtype=float, device=device, requires_grad=True)


def fresh(device, n=3):
    return wp.zeros(n, dtype=float, device=device, requires_grad=True)


def test_a_chain_of_launches(device):
    x, y, z, loss = values([1.0, 2.0, 3.0], device), fresh(device), fresh(device), fresh(device, 1)
    with wp.Tape() as tape:
        wp.launch(scale, 3, [2.0, x], [y], device=device)
        wp.launch(square_into, 3, [y], [z], device=device)
        wp.launch(total, 3, [z], [loss], device=device)
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), [8.0, 16.0, 24.0])
    assert tape.gradients[x] is x.grad
    tape.zero()
    np.testing.assert_allclose(x.grad.numpy(), 0.0)
    tape.backward(grads={z: values([1.0, 10.0, 100.0], device)})
    np.testing.assert_allclose(x.grad.numpy(), [8.0, 160.0, 2400.0])
    tape.reset()
    assert tape.launches == []
    np.testing.assert_allclose(x.grad.numpy(), 0.0)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: fills are not recorded")
def test_a_buffer_that_is_cleared_every_step(device):
    x, force, loss = values([1.0, 2.0, 3.0], device), fresh(device), fresh(device, 1)
    with wp.Tape() as tape:
        for _ in range(3):
            force.zero_()
            wp.launch(square_into, 3, [x], [force], device=device)
            wp.launch(total, 3, [force], [loss], device=device)
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), [6.0, 12.0, 18.0])


@pytest.mark.skipif(ON_WARP, reason="Warp differs: a tape does not see recorded launches")
def test_recorded_launches(device):
    x = values([2.0, 3.0], device)
    y, z = fresh(device, 2), fresh(device, 2)
    command = wp.launch(square_into, 2, [x], [y], device=device, record_cmd=True)
    with wp.Tape() as tape:
        command.launch()
        command.set_params([y, z])
        command.launch()
    tape.backward(grads={z: wp.ones_like(z)})
    # The derivative of x to the fourth.
    np.testing.assert_allclose(x.grad.numpy(), [32.0, 108.0])


@pytest.mark.skipif(ON_WARP, reason="Warp differs: nothing is said")
def test_a_graph_on_a_tape_is_told(device):
    x, y = values([2.0, 3.0], device), fresh(device, 2)
    with wp.ScopedCapture(device=device) as capture:
        wp.launch(square_into, 2, [x], [y], device=device)
    with wp.Tape(), pytest.warns(UserWarning, match="a graph that is launched is not differentiated") as caught:
        wp.capture_launch(capture.graph)
        wp.capture_launch(capture.graph)
    assert len(caught) == 1


def test_a_fill_before_all_else_hides_nothing(device):
    x, loss = fresh(device), fresh(device, 1)
    with wp.Tape() as tape:
        x.fill_(2.0)
        wp.launch(total, 3, [x], [loss], device=device)
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 1.0)


def test_copies_between_offsets_and_views(device):
    x, y, loss = values(np.arange(6.0), device), fresh(device, 6), fresh(device, 1)
    with wp.Tape() as tape:
        wp.copy(y, x, dest_offset=1, src_offset=3, count=2)
        wp.launch(square_into, 2, [y[1:3]], [fresh(device)], device=device)
        wp.launch(total, 6, [y], [loss], device=device)
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), [0, 0, 0, 1, 1, 0])
    np.testing.assert_allclose(y.grad.numpy(), [1, 0, 0, 1, 1, 1])


@wp.kernel
def local_updates(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    sums = wp.zeros(shape=3, dtype=float)
    sums[0] -= x[i] * x[i]
    sums[1] += 2.0 * x[i]
    wp.atomic_max(sums, 1, 3.0 * x[i])
    wp.atomic_min(sums, 2, -x[i])
    y[i] = sums[0] + 10.0 * sums[1] + 100.0 * sums[2]


@pytest.mark.skipif(ON_WARP, reason="gradients of arrays local to a thread are wrong in Warp")
def test_updates_of_arrays_local_to_a_thread(device):
    x = wp.array([1.0, 2.0, 5.0], dtype=float, device=device, requires_grad=True)
    y = wp.zeros_like(x)
    tape = wp.Tape()
    with tape:
        wp.launch(local_updates, 3, [x], [y], device=device)
    np.testing.assert_allclose(y.numpy(), [-71.0, -144.0, -375.0])
    tape.backward(grads={y: wp.ones_like(y)})
    np.testing.assert_allclose(x.grad.numpy(), [-2.0 + 30.0 - 100.0, -4.0 - 70.0, -10.0 - 70.0])


def test_functions_run_in_their_turn(device):
    x, y, loss = values([1.0, 2.0, 3.0], device), fresh(device), fresh(device, 1)
    order = []

    def backward():
        order.append("function")
        x.grad.assign(y.grad.numpy() * 5.0)

    with wp.Tape() as tape:
        tape.record_func(backward, [x, y])
        wp.launch(total, 3, [y], [loss], device=device)
    tape.backward(loss)
    assert order == ["function"]
    np.testing.assert_allclose(x.grad.numpy(), 5.0)
    with pytest.raises(RuntimeError, match="grad"):
        tape.record_func(backward, [wp.zeros(3, dtype=float, device=device)])


@wp.struct
class Pair:
    left: wp.array(dtype=float)
    right: wp.array(dtype=float)
    factor: float


@wp.kernel
def multiply(pair: Pair, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = pair.left[i] * pair.right[i] * pair.factor


def test_structs(device):
    pair = Pair()
    pair.left, pair.right, pair.factor = values([1.0, 2.0], device), values([3.0, 4.0], device), 2.0
    out, loss = fresh(device, 2), fresh(device, 1)
    with wp.Tape() as tape:
        wp.launch(multiply, 2, [pair], [out], device=device)
        wp.launch(total, 2, [out], [loss], device=device)
    tape.backward(loss)
    np.testing.assert_allclose(pair.left.grad.numpy(), [6.0, 8.0])
    np.testing.assert_allclose(tape.gradients[pair].right.numpy(), [2.0, 4.0])


def test_misuse():
    with wp.Tape() as tape:
        with pytest.raises(RuntimeError, match="tape"):
            with wp.Tape():
                pass
    with pytest.raises(RuntimeError, match="scope"):
        tape.record_scope_end()
    with pytest.raises(RuntimeError, match="scalar loss" if ON_WARP else "one number"):
        tape.backward(fresh("cpu"))
    with pytest.raises(RuntimeError, match="requires_grad"):
        tape.backward(wp.zeros(1, dtype=float, device="cpu"))
    if not ON_WARP:
        with pytest.raises(ValueError, match="2 elements"):
            tape.backward(grads={fresh("cpu"): fresh("cpu", 2)})


def test_record_tape_false_records_nothing(device):
    x = values([1.0], device)
    with wp.Tape() as tape:
        wp.launch(scale, 1, [1.0, x], [fresh(device)], device=device, record_tape=False)
    assert tape.launches == []


def test_the_picture(tmp_path):
    x, y, loss = fresh("cpu"), fresh("cpu"), fresh("cpu", 1)
    with wp.Tape() as tape:
        tape.record_scope_begin("steps")
        for _ in range(4):
            wp.launch(scale, 3, [2.0, x], [y], device="cpu")
        tape.record_scope_end()
        wp.launch(total, 3, [y], [loss], device="cpu")
    text = tape.visualize(str(tmp_path / "tape.dot"), array_labels={y: "middle"})
    assert text == (tmp_path / "tape.dot").read_text()
    assert "repeated 4x" in text and "steps" in text and "middle" in text
    assert text.count("total") >= 1


def test_gradients_follow_copies_of_indexed_arrays(device):
    source = wp.array([1.0, 2.0, 3.0], dtype=float, device=device, requires_grad=True)
    seen = wp.indexedarray(source, wp.array([2, 0], dtype=int, device=device))
    taken = wp.zeros(2, dtype=float, device=device, requires_grad=True)
    target = wp.zeros(4, dtype=float, device=device, requires_grad=True)
    places = wp.indexedarray(target, wp.array([3, 1], dtype=int, device=device))
    with wp.Tape() as tape:
        wp.copy(taken, seen)
        wp.copy(places, taken)
    target.grad = wp.array([1.0, 10.0, 100.0, 1000.0], dtype=float, device=device)
    tape.backward()
    np.testing.assert_array_equal(target.numpy(), [0.0, 1.0, 0.0, 3.0])
    np.testing.assert_array_equal(source.grad.numpy(), [10.0, 0.0, 1000.0])


@pytest.mark.parametrize("dtype", [wp.float32, wp.float64])
def test_who_holds_a_maximum_or_minimum_gets_its_gradient(device, dtype):
    @wp.kernel(module="unique", enable_backward=True)
    def extremes(
        x: wp.array(dtype=dtype),
        sums: wp.array(dtype=dtype),
        most: wp.array(dtype=dtype),
        least: wp.array(dtype=dtype),
    ):
        i = wp.tid()
        # Whether product and sum become one operation may depend on what else is made of them.
        v = x[i] * x[i] + x[i]
        wp.atomic_add(sums, 0, v * v)
        wp.atomic_sub(sums, i % 2 + 1, wp.sin(v))
        wp.atomic_max(most, i % 3, v)
        wp.atomic_min(least, i % 3, v * x[i])

    def zeros():
        return wp.zeros(3, dtype=dtype, device=device, requires_grad=True)

    for n in (7, 40):
        numbers = np.random.default_rng(n).standard_normal(n).astype(wp.dtype_to_numpy(dtype))
        x = wp.array(numbers, dtype=dtype, device=device, requires_grad=True)
        sums, most, least = zeros(), zeros(), zeros()
        most.fill_(-1e9)
        least.fill_(1e9)
        with wp.Tape() as tape:
            wp.launch(extremes, n, [x], [sums, most, least], device=device)
        ones = wp.full(3, 1.0, dtype=dtype, device=device)
        tape.backward(grads={most: ones, least: ones})
        v = numbers * numbers + numbers
        expected = np.zeros(n)
        for group in range(3):
            places = np.arange(group, n, 3)
            highest, lowest = places[v[places].argmax()], places[(v * numbers)[places].argmin()]
            expected[highest] += 2.0 * numbers[highest] + 1.0
            expected[lowest] += 3.0 * numbers[lowest] ** 2 + 2.0 * numbers[lowest]
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-3, atol=1e-4)
