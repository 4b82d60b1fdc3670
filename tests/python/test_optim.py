"""The optimisers against their formulas in numpy."""

from importlib import import_module

import numpy as np
import pytest
from _wp import MODULE, ON_WARP, wp

optim = import_module(f"{MODULE}.optim")

GRADIENTS = [np.array([0.5, -1.0, 2.0], np.float32), np.array([0.1, 0.2, -0.3], np.float32), np.ones(3, np.float32)]


@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd(nesterov, device):
    x = np.array([1.0, 2.0, 3.0])
    param = wp.array(x.astype(np.float32), dtype=float, device=device)
    settings = dict(lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=nesterov)
    optimizer = optim.SGD([param], dampening=0.2, **settings)
    velocity = None
    for gradient in GRADIENTS:
        optimizer.step([wp.array(gradient, dtype=float, device=device)])
        g = gradient + 0.01 * x
        velocity = g if velocity is None else 0.9 * velocity + (1.0 - 0.2) * g
        x = x - 0.1 * (g + 0.9 * velocity if nesterov else velocity)
    np.testing.assert_allclose(param.numpy(), x, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "vec3"])
def test_adam(dtype, device):
    x = np.array([1.0, 2.0, 3.0])
    shape = (1, 3) if dtype == "vec3" else (3,)
    np_type = np.float16 if dtype == "float16" else np.float32
    make = lambda data: wp.array(data.reshape(shape).astype(np_type), dtype=getattr(wp, dtype), device=device)  # noqa: E731
    param = make(x)
    optimizer = optim.Adam([param], lr=0.1, betas=(0.8, 0.9))
    m, v = np.zeros(3), np.zeros(3)
    for t, gradient in enumerate(GRADIENTS, 1):
        optimizer.step([make(gradient)])
        m, v = 0.8 * m + 0.2 * gradient, 0.9 * v + 0.1 * gradient**2
        x = x - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-8)
    np.testing.assert_allclose(param.numpy().reshape(-1), x, rtol=3e-3 if dtype == "float16" else 1e-5)


@wp.kernel(enable_backward=True)
def distance(x: wp.array(dtype=wp.vec3), target: wp.vec3, loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, wp.length_sq(x[wp.tid()] - target))


def test_a_problem_is_solved(device):
    x = wp.zeros(5, dtype=wp.vec3, device=device, requires_grad=True)
    optimizer = optim.Adam([x], lr=0.05)
    for _ in range(300):
        loss = wp.zeros(1, dtype=float, device=device, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(distance, 5, [x, wp.vec3(1.0, -2.0, 0.5)], [loss], device=device)
        tape.backward(loss)
        optimizer.step([x.grad])
        tape.zero()
    np.testing.assert_allclose(x.numpy(), np.tile([1.0, -2.0, 0.5], (5, 1)), atol=1e-2)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: other messages")
def test_misuse(device):
    param = wp.zeros(3, dtype=float, device=device)
    for kind in (optim.SGD, optim.Adam):
        with pytest.raises(RuntimeError, match="set before"):
            kind().step([])
        with pytest.raises(TypeError, match="dtype"):
            kind([param]).step([wp.zeros(3, dtype=int, device=device)])
        with pytest.raises(ValueError, match="shape"):
            kind([param]).step([wp.zeros(4, dtype=float, device=device)])
        with pytest.raises(TypeError, match="floats"):
            kind([wp.zeros(3, dtype=int, device=device)])
        with pytest.raises(ValueError, match="contiguous"):
            kind([wp.zeros(6, dtype=float, device=device)[::2]])
        state = kind([param], lr=0.1)
        state.step([wp.ones(3, dtype=float, device=device)])
        state.reset_internal_state()
        assert state.t == 0


@pytest.mark.skipif(ON_WARP, reason="Warp differs: other errors, and earlier parameters have changed")
@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam])
def test_gradients_that_do_not_fit(kind, device):
    params = [wp.zeros(3, dtype=float, device=device) for _ in range(2)]
    ones = lambda shape, dtype: wp.ones(shape, dtype=dtype, device=device)
    optimizer = kind(params)
    name = kind.__name__
    for gradient, error, said in (
        (None, TypeError, f"{name} gradient must be an array, got None, for parameter 1; .*requires_grad=True"),
        (np.ones(3, np.float32), TypeError, "must be an array, got ndarray, for parameter 1; .*array"),
        (ones(3, wp.float64), TypeError, "dtype float32, got float64, for parameter 1; .*array_cast"),
        (ones((3, 1), float), ValueError, r"shape \(3,\), got \(3, 1\), for parameter 1; reshape"),
    ):
        with pytest.raises(error, match=said):
            optimizer.step([ones(3, float), gradient])
    for gradients, error, said in (
        ([ones(3, float)], ValueError, "expected 2, got 1"),
        ([ones(3, float)] * 3, ValueError, "expected 2, got 3"),
        (ones(2, float), TypeError, "list with one gradient per parameter, .* got array"),
        (None, TypeError, "list with one gradient per parameter, .* got NoneType"),
    ):
        with pytest.raises(error, match=rf"{name}\.step\(\) takes .*{said}"):
            optimizer.step(gradients)
    assert optimizer.t == 0
    assert not any(param.numpy().any() for param in params)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: other errors")
@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam])
def test_gradients_on_another_device(kind, cuda_device):
    optimizer = kind([wp.zeros(3, dtype=float, device=cuda_device)])
    said = f"device must match parameter device {cuda_device}, got cpu, for parameter 0; copy it"
    with pytest.raises(RuntimeError, match=said):
        optimizer.step([wp.ones(3, dtype=float, device="cpu")])
