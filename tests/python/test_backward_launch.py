"""`launch(..., adjoint=True)` against central differences of the same kernels, and its rules for gradients in memory."""

import numpy as np
import pytest
from _wp import ON_WARP, wp

wp.set_module_options({"enable_backward": True})

N = 12


def differences(run, x, weights, step=1e-3):
    """The gradient of `sum(run() * weights)` by every number in `x`."""
    base = x.numpy().copy()
    found = np.zeros(base.size)
    for index in range(base.size):
        for sign in (1.0, -1.0):
            moved = base.reshape(-1).copy()
            moved[index] += sign * step
            x.assign(moved.reshape(base.shape))
            found[index] += sign * (run().astype(np.float64) * weights).sum()
        found[index] /= 2.0 * step
    x.assign(base)
    return found.reshape(base.shape)


def check(kernel, x, inputs, device, dtype=float, size=N, rtol=3e-3):
    """The kernel writes `size` outputs; its gradient by `x`, one of `inputs` or held by one, is compared."""
    weights = np.linspace(0.5, 1.5, size)

    def run():
        y = wp.zeros(size, dtype=dtype, device=device, requires_grad=True)
        wp.launch(kernel, size, inputs, [y], device=device)
        return y

    y = run()
    y.grad.assign(weights.astype(np.float64 if dtype == wp.float64 else np.float32))
    x.grad.zero_()
    wp.launch(
        kernel, size, inputs, [y], adj_inputs=[None] * len(inputs), adj_outputs=[None], device=device, adjoint=True
    )
    expected = differences(lambda: run().numpy(), x, weights)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def values(device, shape=N, dtype=float, low=0.5, high=1.2):
    data = np.random.default_rng(1).uniform(low, high, shape).astype(np.float32)
    return wp.array(data, dtype=dtype, device=device, requires_grad=True)


@wp.kernel
def formula(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    b = x[(i + 1) % 12]
    y[i] = wp.sin(a) * b / (1.0 + a * a) - wp.pow(a, b) + wp.atan2(a, b) + wp.max(a, b) * wp.min(a, 0.8)


@wp.kernel
def product_with_exit(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.0)
    for k in range(n):
        p = p * wp.sin(x[(i + k) % 12]) + x[k % 12]
        if p > 3.0:
            break
    y[i] = p


@wp.kernel
def while_with_continue(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.0)
    k = int(0)
    while k < n:
        q = x[k % 12]
        if k % 3 == 1:
            k += 1
            continue
        p = p * q + wp.sin(p * x[i])
        if p > 2.0:
            p = 1.0 + p * 0.5
        k = k + 1
    y[i] = p * p


@wp.kernel
def nested_loops(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.0)
    for k in range(40):
        for j in range(n):
            p = wp.sin(p * x[i] + x[j % 12])
        p = p * x[k % 12] + 0.2
    y[i] = p


@wp.kernel
def backward_count(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.vec2(1.0, x[i])
    for k in range(n, -1, -3):
        v = wp.vec2(v[1] * x[k % 12], v[0] + v[1] * 0.5)
    y[i] = wp.dot(v, v)


@wp.kernel
def early_return(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 0.9:
        y[i] = x[i] * x[i] * x[i]
        return
    for k in range(n):
        if x[k % 12] > 1.1:
            y[i] = x[k % 12] * x[i]
            return
    y[i] = wp.exp(x[i])


@wp.func
def energy(x: wp.array(dtype=float), n: int, scale: float):
    total = float(0.0)
    for k in range(n):
        total += x[k % 12] * x[k % 12] * scale
    return 1.0 / total, total


@wp.kernel
def by_function(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):
    i = wp.tid()
    inverse, total = energy(x, n, x[i])
    y[i] = inverse + wp.sqrt(total)


@pytest.mark.parametrize(
    "kernel",
    [product_with_exit, while_with_continue, nested_loops, backward_count, early_return, by_function],
    ids=lambda k: k.key,
)
@pytest.mark.parametrize("count", [0, 1, 7, 50])
@pytest.mark.skipif(ON_WARP, reason="Warp differs: values carried by loops of unknown length are not kept")
def test_control_flow(kernel, count, device):
    if kernel is by_function and count == 0:
        count = 2
    x = values(device)
    check(kernel, x, [x, count], device)


def test_formula(device):
    x = values(device)
    check(formula, x, [x], device)


@wp.struct
class Body:
    points: wp.array(dtype=wp.vec3)
    scale: float


@wp.func
def stretch(v: wp.vec3, k: float):
    if v[0] > 0.8:
        return wp.dot(v, v) * k
    return wp.length(v)


@wp.kernel
def with_struct(body: Body, y: wp.array(dtype=float)):
    i = wp.tid()
    v = body.points[i]
    v[1] = v[0] * v[2]
    m = wp.outer(v, body.points[0])
    m[1, 2] = v[2]
    y[i] = stretch(v, body.scale) + stretch(m * v, 2.0)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: the gradients of a struct must be given")
def test_struct_with_array(device):
    body = Body()
    body.scale = 1.5
    body.points = values(device, (N, 3), wp.vec3)
    check(with_struct, body.points, [body], device)


@wp.kernel
def double_in_place(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + x[i]


@wp.kernel
def copy_elements(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i]


def test_overwriting_in_place(device):
    x = values(device)
    x.grad.fill_(3.0)
    wp.launch(double_in_place, N, [x], adj_inputs=[None], device=device, adjoint=True)
    np.testing.assert_allclose(x.grad.numpy(), 6.0)


def test_a_store_takes_the_gradient(device):
    x, y = values(device), values(device)
    y.grad.fill_(2.0)
    launch = dict(inputs=[x], outputs=[y], adj_inputs=[None], adj_outputs=[None], device=device, adjoint=True)
    wp.launch(copy_elements, N, **launch)
    np.testing.assert_allclose(y.grad.numpy(), 0.0)
    wp.launch(copy_elements, N, **launch)
    np.testing.assert_allclose(x.grad.numpy(), 2.0)


def test_a_retained_gradient_stays(device):
    x, y = values(device), values(device)
    y.retain_grad = True
    y.grad.fill_(2.0)
    wp.launch(copy_elements, N, [x], [y], adj_inputs=[None], adj_outputs=[None], device=device, adjoint=True)
    np.testing.assert_allclose(y.grad.numpy(), 2.0)
    np.testing.assert_allclose(x.grad.numpy(), 2.0)
    y.grad.fill_(3.0)
    assert y[2:].retain_grad
    wp.launch(copy_elements, 4, [x[2:]], [y[2:]], adj_inputs=[None], adj_outputs=[None], device=device, adjoint=True)
    np.testing.assert_allclose(y.grad.numpy(), 3.0)
    with pytest.raises(ValueError, match="requires_grad"):
        wp.zeros(3, dtype=float, device=device).retain_grad = True


def test_gradients_given_by_the_caller(device):
    x, y = values(device), values(device)
    dx = wp.zeros(N, dtype=float, device=device)
    dy = wp.full(N, 4.0, dtype=float, device=device)
    wp.launch(copy_elements, N, [x], [y], adj_inputs=[dx], adj_outputs=[dy], device=device, adjoint=True)
    np.testing.assert_allclose(dx.numpy(), 4.0)
    np.testing.assert_allclose(dy.numpy(), 4.0)
    np.testing.assert_allclose(x.grad.numpy(), 0.0)


@wp.kernel
def square_in_place(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * x[i]


@wp.func
def squared(x: wp.array(dtype=float), i: int):
    return x[i] * x[i]


@wp.func
def put(x: wp.array(dtype=float), i: int, value: float):
    x[i] = value


@wp.kernel
def square_through_functions(x: wp.array(dtype=float)):
    row = x[1:]
    if wp.tid() > 0:
        put(row, wp.tid() - 1, squared(x, wp.tid()))


@wp.kernel
def take_number(count: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    at = wp.atomic_add(count, 0, 1)
    y[at] = x[i]


@pytest.mark.skipif(ON_WARP, reason="Warp differs: wrong gradients without a word")
def test_what_cannot_be_right_is_refused(device):
    x, y = values(device), values(device)
    with pytest.raises(Exception, match="overwritten later") as caught:
        wp.launch(square_in_place, N, [x], adj_inputs=[None], device=device, adjoint=True)
    assert "x[i] = x[i] * x[i]" in str(caught.value)
    with pytest.raises(Exception, match="overwritten later") as caught:
        wp.launch(square_through_functions, N, [x], adj_inputs=[None], device=device, adjoint=True)
    assert "return x[i] * x[i]" in str(caught.value) and "x[i] = value" in str(caught.value)
    count = wp.zeros(1, dtype=int, device=device)
    with pytest.raises(Exception, match="result of an atomic operation"):
        wp.launch(take_number, N, [count, x], [y], device=device, adjoint=True)
    # Without gradients nothing is needed.
    plain = wp.array(x.numpy(), dtype=float, device=device)
    wp.launch(square_in_place, N, [plain], device=device, adjoint=True)


@wp.kernel(enable_backward=False)
def forward_only(x: wp.array(dtype=float)):
    x[wp.tid()] = 1.0


@pytest.mark.skipif(ON_WARP, reason="Warp differs: another message")
def test_backward_can_be_switched_off(device):
    x = values(device)
    with pytest.raises(RuntimeError, match="enable_backward"):
        wp.launch(forward_only, N, [x], device=device, adjoint=True)


@wp.kernel
def mixed(a: wp.array(dtype=wp.float16), b: wp.array(dtype=wp.float64), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = float(a[i]) * float(b[i])


def test_casts(device):
    a = wp.array(np.full(N, 0.5, np.float16), dtype=wp.float16, device=device, requires_grad=True)
    b = wp.array(np.full(N, 3.0), dtype=wp.float64, device=device, requires_grad=True)
    y = wp.zeros(N, dtype=float, device=device, requires_grad=True)
    y.grad.fill_(2.0)
    wp.launch(mixed, N, [a, b], [y], adj_inputs=[None, None], adj_outputs=[None], device=device, adjoint=True)
    np.testing.assert_allclose(a.grad.numpy(), 6.0)
    np.testing.assert_allclose(b.grad.numpy(), 1.0)


@wp.kernel
def smallest(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_min(y, 0, x[i])
    wp.atomic_max(y, 1, x[i])
    wp.atomic_sub(y, 2, x[i] * x[i])
    y[3] += x[i]


def test_atomics(device):
    x = values(device)
    y = wp.array([9.0, -9.0, 0.0, 0.0], dtype=float, device=device, requires_grad=True)
    wp.launch(smallest, N, [x], [y], device=device)
    y.grad.assign([1.0, 2.0, 3.0, 4.0])
    wp.launch(smallest, N, [x], [y], adj_inputs=[None], adj_outputs=[None], device=device, adjoint=True)
    data = x.numpy()
    expected = -6.0 * data + 4.0
    expected[data.argmin()] += 1.0
    expected[data.argmax()] += 2.0
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


@wp.kernel
def strided(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    row = x[i]
    y[i] = row[0] * row[1]


def test_views_and_slices(device):
    data = np.arange(1.0, 25.0, dtype=np.float32).reshape(12, 2)
    x = wp.array(data.T.copy(), dtype=float, device=device, requires_grad=True)
    y = wp.zeros(6, dtype=float, device=device, requires_grad=True)
    y.grad.fill_(1.0)
    part = x.transpose()[::2]
    wp.launch(strided, 6, [part], [y], adj_inputs=[None], adj_outputs=[None], device=device, adjoint=True)
    expected = np.zeros_like(data)
    expected[::2] = data[::2, ::-1]
    np.testing.assert_allclose(x.grad.numpy(), expected.T)


@wp.kernel
def weigh(w: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = w[i] * x[i] * x[i]


@wp.struct
class Weights:
    w: wp.array(dtype=float)


@wp.kernel
def weigh_with(weights: Weights, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = weights.w[i] * x[i] * x[i]


def numbers(data, device, requires_grad=True):
    return wp.array(data, dtype=float, device=device, requires_grad=requires_grad)


def test_a_recorded_backward_launch_runs_again_and_again(device):
    w, x, y = numbers([2.0, 3.0], device), numbers([1.0, 2.0], device), numbers([0.0, 0.0], device)
    y.grad.fill_(1.0)
    command = wp.launch(weigh, 2, [w, x], [y], adjoint=True, record_cmd=True, device=device)
    np.testing.assert_allclose(x.grad.numpy(), 0.0)
    command.launch()
    np.testing.assert_allclose(x.grad.numpy(), [4.0, 12.0])
    np.testing.assert_allclose(w.grad.numpy(), [1.0, 4.0])
    np.testing.assert_allclose(y.grad.numpy(), 0.0)
    y.grad.fill_(1.0)
    command.launch()
    np.testing.assert_allclose(x.grad.numpy(), [8.0, 24.0])


def test_arguments_and_gradients_of_a_recorded_backward_launch_can_be_set(device):
    w, x, y = numbers([2.0, 3.0], device), numbers([1.0, 2.0], device), numbers([0.0, 0.0], device)
    command = wp.launch(weigh, 2, [w, x], [y], adjoint=True, record_cmd=True, device=device)
    given, mine = numbers([1.0, 10.0], device, False), numbers([0.0, 0.0], device, False)
    command.set_param_by_name("y", given, adjoint=True)
    command.set_param_at_index(1, mine, adjoint=True)
    # Another array without a gradient: none is computed of it.
    command.set_param_by_name("w", numbers([5.0, 6.0], device, False))
    command.launch()
    np.testing.assert_allclose(mine.numpy(), [10.0, 240.0])
    np.testing.assert_allclose(x.grad.numpy(), 0.0)
    np.testing.assert_allclose(w.grad.numpy(), 0.0)
    # Gradients that were given are left as they are, and an array's own are used again after None.
    np.testing.assert_allclose(given.numpy(), [1.0, 10.0])
    command.set_param_at_index(1, None, adjoint=True)
    command.launch()
    np.testing.assert_allclose(x.grad.numpy(), [10.0, 240.0])


def test_a_recorded_backward_launch_looks_into_structs_again(device):
    weights = Weights()
    weights.w = numbers([2.0, 3.0], device)
    x, y = numbers([1.0, 2.0], device), numbers([0.0, 0.0], device)
    command = wp.launch(weigh_with, 2, [weights, x], [y], adjoint=True, record_cmd=True, device=device)
    y.grad.fill_(1.0)
    command.launch()
    np.testing.assert_allclose(weights.w.grad.numpy(), [1.0, 4.0])
    weights.w = numbers([4.0, 5.0], device, False)
    y.grad.fill_(1.0)
    command.launch()
    np.testing.assert_allclose(x.grad.numpy(), [4.0 + 8.0, 12.0 + 20.0])


def test_gradients_are_for_backward_launches_only(device):
    w, x, y = (numbers([0.0], device) for _ in range(3))
    command = wp.launch(weigh, 1, [w, x], [y], record_cmd=True, device=device)
    with pytest.raises(
        TypeError, match="kernel `weigh`: the gradient of `x` is for a launch recorded with `adjoint=True`"
    ):
        command.set_param_by_name("x", x, adjoint=True)
    with pytest.raises(IndexError, match="there is no number 3"):
        command.set_param_at_index(3, x, adjoint=True)


def test_gradients_of_outputs_need_none_of_inputs(device):
    w, x, y = numbers([2.0], device), numbers([3.0], device), numbers([0.0], device)
    wp.launch(weigh, 1, [w, x], [y], adj_outputs=[numbers([1.0], device, False)], adjoint=True, device=device)
    np.testing.assert_allclose(x.grad.numpy(), [12.0])


@wp.kernel
def extremes(
    x: wp.array(dtype=float), v: wp.array(dtype=wp.vec2), least: wp.array(dtype=float), box: wp.array(dtype=wp.vec2)
):
    i = wp.tid()
    wp.atomic_min(least, 0, x[i])
    wp.atomic_max(box, 0, v[i])


def test_what_loses_against_a_minimum_has_no_gradient(device):
    x = numbers([3.0, 1.0, 1.0, 2.0], device)
    v = wp.array([[1, 8], [5, 2], [3, 3], [5, 1]], dtype=wp.vec2, device=device, requires_grad=True)
    least = numbers([2.0], device)
    box = wp.array([[0.0, 9.0]], dtype=wp.vec2, device=device, requires_grad=True)
    wp.launch(extremes, 4, [x, v], [least, box], device=device)
    least.grad.fill_(5.0)
    box.grad.fill_(wp.vec2(2.0, 7.0))
    wp.launch(extremes, 4, [x, v], [least, box], adjoint=True, device=device)
    # Of two equal ones one gets it all; the value from before lost.
    assert sorted(x.grad.numpy()) == [0.0, 0.0, 0.0, 5.0] and x.grad.numpy()[[0, 3]].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(least.grad.numpy(), 0.0)
    # In each component for itself: the first has winners among the threads, in the second the value from before won.
    grad = v.grad.numpy()
    assert sorted(grad[:, 0]) == [0.0, 0.0, 0.0, 2.0] and grad[[1, 3], 0].sum() == 2.0
    np.testing.assert_allclose(grad[:, 1], 0.0)
    np.testing.assert_allclose(box.grad.numpy(), [[0.0, 7.0]])


@wp.kernel
def clamp_from_below(least: wp.array(dtype=float)):
    wp.atomic_max(least, wp.tid(), 0.0)


def test_a_constant_that_wins_leaves_no_gradient(device):
    least = numbers([-1.0, 2.0], device)
    wp.launch(clamp_from_below, 2, [least], device=device)
    least.grad.fill_(1.0)
    wp.launch(clamp_from_below, 2, [least], adjoint=True, device=device)
    np.testing.assert_allclose(least.grad.numpy(), [0.0, 1.0])


@wp.kernel(enable_backward=True)
def weighted_sum(x: wp.indexedarray(dtype=float), weights: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, 0, x[i] * weights[i])


def test_the_gradient_of_an_indexed_array_is_given_as_that_of_the_array_behind_it():
    base = wp.array([1.0, 2.0, 3.0, 4.0], dtype=float, device="cpu")
    x = wp.indexedarray(base, [wp.array([3, 1], dtype=int, device="cpu")])
    weights = wp.array([0.25, 0.5], dtype=float, device="cpu")
    total = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
    total.grad.fill_(2.0)
    gradient = wp.zeros(4, dtype=float, device="cpu")
    common = {"outputs": [total], "adj_outputs": [total.grad], "adjoint": True, "device": "cpu"}
    wp.launch(weighted_sum, dim=2, inputs=[x, weights], adj_inputs=[gradient, None], **common)
    assert gradient.list() == [0.0, 1.0, 0.0, 0.5]
    with pytest.raises(Exception, match="`x`: the gradient must have the type"):
        wrong = wp.zeros(4, dtype=wp.float64, device="cpu")
        wp.launch(weighted_sum, dim=2, inputs=[x, weights], adj_inputs=[wrong, None], **common)
