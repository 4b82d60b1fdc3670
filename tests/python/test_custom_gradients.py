"""Gradients and replays that users give functions, and gradients asked for in kernels."""

import numpy as np
import pytest
from _wp import ON_WARP, wp

wp.set_module_options({"enable_backward": True})


def values(data, device):
    return wp.array(data, dtype=float, device=device, requires_grad=True)


@wp.func
def rounded(x: float, y: float):
    return wp.round(x) * y


@wp.func_grad(rounded)
def adj_rounded(x: float, y: float, adj_ret: float):
    # As if nothing was rounded.
    if y > 0.0:
        wp.adjoint[x] += y * adj_ret
    for _ in range(2):
        wp.adjoint[y] += 0.5 * x * adj_ret


@wp.func
def scaled(x: float):
    return x * 2.0


@wp.func
def scaled(x: wp.vec2):  # noqa: F811
    return x * 2.0


@wp.func_grad(scaled)
def adj_scaled(x: wp.vec2, adj_ret: wp.vec2):
    wp.adjoint[x] += adj_ret * 100.0


@wp.kernel
def by_custom_gradient(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    z[i] = rounded(x[i], y[i]) + scaled(x[i]) + scaled(wp.vec2(y[i], 1.0))[0]


def test_a_custom_gradient(device):
    x, y, z = values([1.2, 2.7], device), values([3.0, -4.0], device), values([0.0, 0.0], device)
    with wp.Tape() as tape:
        wp.launch(by_custom_gradient, 2, [x, y], [z], device=device)
    np.testing.assert_allclose(z.numpy(), [1.0 * 3.0 + 2.4 + 6.0, 3.0 * -4.0 + 5.4 - 8.0], rtol=1e-6)
    tape.backward(grads={z: values([1.0, 1.0], device)})
    np.testing.assert_allclose(x.grad.numpy(), [3.0 + 2.0, 2.0])
    np.testing.assert_allclose(y.grad.numpy(), [1.2 + 100.0, 2.7 + 100.0], rtol=1e-6)


@wp.func
def put(a: wp.array(dtype=float), i: int, x: float):
    a[i] = x * x


@wp.func_grad(put)
def adj_put(a: wp.array(dtype=float), i: int, x: float):
    wp.adjoint[x] += wp.adjoint[a][i] * 7.0


@wp.kernel
def by_put(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    put(y, i, x[i])


def test_a_custom_gradient_of_an_array(device):
    x, y = values([1.0, 2.0], device), values([0.0, 0.0], device)
    with wp.Tape() as tape:
        wp.launch(by_put, 2, [x], [y], device=device)
    tape.backward(grads={y: values([1.0, 2.0], device)})
    np.testing.assert_allclose(x.grad.numpy(), [7.0, 14.0])


@wp.func
def take(counter: wp.array(dtype=int), mine: wp.array(dtype=int), i: int):
    at = wp.atomic_add(counter, 0, 1)
    mine[i] = at
    return at


@wp.func_replay(take)
def replay_take(counter: wp.array(dtype=int), mine: wp.array(dtype=int), i: int):
    return mine[i]


@wp.kernel
def by_counter(
    counter: wp.array(dtype=int), mine: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)
):
    i = wp.tid()
    at = take(counter, mine, i)
    y[at] = x[i] * float(at + 1)


def test_a_replay(device):
    x, y = values([5.0] * 20, device), values([0.0] * 20, device)
    counter, mine = wp.zeros(1, dtype=int, device=device), wp.zeros(20, dtype=int, device=device)
    with wp.Tape() as tape:
        wp.launch(by_counter, 20, [counter, mine, x], [y], device=device)
    tape.backward(grads={y: values([1.0] * 20, device)})
    np.testing.assert_allclose(x.grad.numpy(), mine.numpy() + 1.0)
    assert counter.numpy()[0] == 20


@wp.func
def mixed(x: float, n: int, v: wp.vec3):
    return x * x * float(n) + v[0] * x


@wp.func
def apply(f: wp.Function, x: float):
    return f(x) * x


@wp.kernel(enable_backward=False, module="unique")
def asks(out: wp.array(dtype=float)):
    dx, dn, dv = wp.grad(mixed)(2.0, 3, wp.vec3(1.0, 2.0, 3.0))
    out[0] = dx
    out[1] = float(dn)
    out[2] = dv[0]
    dy, dz = wp.grad(wp.atan2)(1.0, 2.0)
    out[3] = dy
    out[4] = dz
    g = wp.grad(wp.sin)
    out[5] = g(0.5)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: gradients of arguments of several types do not compile")
def test_gradients_in_a_kernel(device):
    out = wp.zeros(6, dtype=float, device=device)
    wp.launch(asks, 1, [out], device=device)
    np.testing.assert_allclose(out.numpy(), [13.0, 0.0, 2.0, 0.4, -0.2, np.cos(0.5)], rtol=1e-6)


@wp.func
def cube(x: float):
    return x * x * x


@wp.kernel(module="unique", enable_backward=True)
def second_order(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.grad(cube)(x[i]) + wp.grad(apply)(wp.exp, x[i])


@pytest.mark.skipif(ON_WARP, reason="Warp differs: nothing flows through the gradient of a function")
def test_gradients_of_gradients(device):
    data = np.array([0.5, -1.0], np.float32)
    x, y = values(data, device), values([0.0, 0.0], device)
    with wp.Tape() as tape:
        wp.launch(second_order, 2, [x], [y], device=device)
    np.testing.assert_allclose(y.numpy(), 3 * data**2 + np.exp(data) * (1 + data), rtol=1e-5)
    tape.backward(grads={y: values([1.0, 1.0], device)})
    np.testing.assert_allclose(x.grad.numpy(), 6 * data + np.exp(data) * (2 + data), rtol=1e-5)


@wp.func
def misfit(x: float):
    return x


@(wp.func_grad(misfit) if not ON_WARP else lambda f: f)
def adj_misfit(x: float, adj_ret: int):
    pass


@wp.func
def returning(x: float):
    return x


@wp.func_grad(returning)
def adj_returning(x: float, adj_ret: float):
    return adj_ret


@wp.kernel(module="unique")
def uses_misfit(x: wp.array(dtype=float)):
    x[0] = misfit(x[0])


@wp.kernel(module="unique")
def uses_returning(x: wp.array(dtype=float)):
    x[0] = returning(x[0])


@pytest.mark.skipif(ON_WARP, reason="Warp differs: other messages")
def test_mistakes(device):
    x = values([1.0], device)
    with pytest.raises(Exception, match="`adj_misfit` does not fit"):
        wp.launch(uses_misfit, 1, [x], device=device)
    with pytest.raises(Exception, match="`adj_returning` returns a value"):
        wp.launch(uses_returning, 1, [x], device=device)
    with pytest.raises(TypeError, match="func_grad"):
        wp.func_grad(len)(len)


@wp.func
def square_of(x: wp.ref[float], k: float):
    x = x * k


@wp.kernel(module="unique", enable_backward=True)
def by_reference(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i]
    square_of(y[i], 3.0)
    local = x[i]
    square_of(local, local)
    y[i] += local


@pytest.mark.skipif(ON_WARP, reason="Warp differs: references are not values")
def test_functions_that_change_their_arguments(device):
    x, y = values([1.0, 2.0], device), values([0.0, 0.0], device)
    with wp.Tape() as tape:
        wp.launch(by_reference, 2, [x], [y], device=device)
    np.testing.assert_allclose(y.numpy(), [4.0, 10.0])
    tape.backward(grads={y: values([1.0, 1.0], device)})
    np.testing.assert_allclose(x.grad.numpy(), [5.0, 7.0])


@wp.func
def squared_element(x: wp.array(dtype=float), i: int):
    return x[i] * x[i]


@wp.func_grad(squared_element)
def adj_squared_element(x: wp.array(dtype=float), i: int, adj_ret: float):
    wp.adjoint[x][i] += 2.0 * x[i] * adj_ret


@wp.func
def doubled_element(x: wp.array(dtype=float), i: int):
    return x[i] * 2.0


@wp.func_replay(doubled_element)
def replay_doubled_element(x: wp.array(dtype=float), i: int):
    return x[i] + x[i]


@wp.kernel
def overwrite_what_a_gradient_reads(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = squared_element(x, i)


@wp.kernel
def overwrite_what_a_replay_reads(x: wp.array(dtype=float)):
    i = wp.tid()
    doubled = doubled_element(x, i)
    x[i] = doubled * doubled


@pytest.mark.skipif(ON_WARP, reason="Warp differs: wrong gradients without a word")
@pytest.mark.parametrize("kernel", [overwrite_what_a_gradient_reads, overwrite_what_a_replay_reads])
def test_what_gradients_and_replays_read_must_not_be_overwritten(device, kernel):
    x = wp.array([1.0, 2.0], dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, 2, [x], device=device)
    with pytest.raises(Exception, match="overwritten later"):
        tape.backward(grads={x: wp.ones_like(x)})
