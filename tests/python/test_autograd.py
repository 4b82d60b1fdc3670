"""Jacobians and gradient checks."""

from importlib import import_module

import numpy as np
import pytest
from _wp import MODULE, ON_WARP, wp

autograd = import_module(f"{MODULE}.autograd")
wp.set_module_options({"enable_backward": True})


@wp.kernel
def mix(a: wp.array(dtype=wp.vec2), k: float, b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.dot(a[i], a[i]) * k + a[0][1] * b[i]


@wp.func
def wrong(x: float):
    return x * x


@wp.func_grad(wrong)
def adj_wrong(x: float, adj_ret: float):
    wp.adjoint[x] -= 2.0 * x * adj_ret


@wp.kernel
def by_wrong(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wrong(a[i])


def arguments(device):
    a = wp.array([[1.0, 2.0], [3.0, 4.0]], dtype=wp.vec2, device=device, requires_grad=True)
    b = wp.array([5.0, 6.0], dtype=float, device=device, requires_grad=True)
    return a, b, wp.zeros(2, dtype=float, device=device, requires_grad=True)


BY_A = [[2.0 * 3.0, 4.0 * 3.0 + 5.0, 0.0, 0.0], [0.0, 6.0, 18.0, 24.0]]
BY_B = [[2.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize("name", ["jacobian", "jacobian_fd"])
def test_jacobians_of_a_kernel(name, device):
    a, b, out = arguments(device)
    made = getattr(autograd, name)(mix, dim=2, inputs=[a, 3.0, b], outputs=[out])
    assert sorted(made) == [(0, 0), (2, 0)]
    np.testing.assert_allclose(made[0, 0].numpy(), BY_A, rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(made[2, 0].numpy(), BY_B, rtol=2e-2, atol=2e-2)
    np.testing.assert_array_equal(a.numpy(), [[1.0, 2.0], [3.0, 4.0]])
    part = getattr(autograd, name)(mix, dim=2, inputs=[a, 3.0, b], outputs=[out], input_output_mask=[("b", "out")])
    assert sorted(part) == [(2, 0)]
    with pytest.raises(ValueError):
        getattr(autograd, name)(mix, dim=2, inputs=[a, 3.0, b], outputs=[out], input_output_mask=[("c", "out")])


def test_jacobian_of_a_function(device):
    def twice(a, b):
        middle, out = wp.zeros_like(b, requires_grad=True), wp.zeros_like(b, requires_grad=True)
        wp.launch(mix, 2, [a, 3.0, b], [middle], device=device)
        wp.launch(mix, 2, [a, 0.0, middle], [out], device=device)
        return out

    a, b, _ = arguments(device)
    made = autograd.jacobian(twice, inputs=[a, b])
    np.testing.assert_allclose(made[1, 0].numpy(), np.eye(2) * 4.0)


def test_gradcheck(device):
    a, b, out = arguments(device)
    assert autograd.gradcheck(mix, dim=2, inputs=[a, 3.0, b], outputs=[out], eps=1e-3, atol=2e-2, show_summary=False)
    x = wp.array([1.0, 2.0], dtype=float, device=device, requires_grad=True)
    y = wp.zeros(2, dtype=float, device=device, requires_grad=True)
    with pytest.raises(ValueError):
        autograd.gradcheck(by_wrong, dim=2, inputs=[x], outputs=[y], show_summary=False)
    with wp.Tape() as tape:
        wp.launch(by_wrong, 2, [x], [y], device=device)
    assert not autograd.gradcheck_tape(tape, raise_exception=False, show_summary=False)
    assert autograd.gradcheck_tape(tape, blacklist_kernels=["by_wrong"], show_summary=False)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: nothing is said")
def test_a_gradcheck_that_compares_nothing_says_so(device):
    x, y = (wp.array([1.0, 2.0], dtype=float, device=device) for _ in range(2))
    with pytest.warns(UserWarning, match="none were compared"):
        autograd.gradcheck(by_wrong, dim=2, inputs=[x], outputs=[y], show_summary=False)
