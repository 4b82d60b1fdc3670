"""Real problems solved with gradients, against known answers: the examples in `examples/gradients`."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from _wp import ON_WARP, wp

if ON_WARP:
    pytest.skip("Warp differs: the examples import inkle", allow_module_level=True)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/gradients"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stiffness_of_a_cloth_is_found(device):
    cloth = example("fit_cloth")
    true = np.array([30.0, 12.0])
    found = cloth.fit(cloth.positions(true, device), [15.0, 15.0], iterations=150, device=device)
    np.testing.assert_allclose(found, true, rtol=0.01)


def test_the_gradient_of_a_cloth_is_that_of_differences(device):
    cloth = example("fit_cloth")
    wanted = cloth.positions(np.array([30.0, 12.0]), device)
    net, at = cloth.Cloth(device), np.log([20.0, 15.0])
    target = wp.array(wanted, dtype=wp.vec3, device=device)

    def run(log_stiffness, tape=None):
        stiffness = wp.array(log_stiffness, dtype=float, device=device, requires_grad=True)
        loss = wp.zeros(1, dtype=float, device=device, requires_grad=True)
        with tape or wp.Tape():
            net.fall(stiffness)
            wp.launch(cloth.distance, len(target), [net.x[-1], target], [loss], device=device)
        return loss, stiffness

    tape = wp.Tape()
    loss, stiffness = run(at, tape)
    tape.backward(loss)
    for index in (0, 1):
        step = 0.01 * np.eye(2)[index]
        above, below = (float(run(at + sign * step)[0].numpy()[0]) for sign in (1, -1))
        np.testing.assert_allclose(stiffness.grad.numpy()[index], (above - below) / 0.02, rtol=0.02)


def test_a_throw_without_drag_has_its_known_gradient_and_answer(device):
    flight = example("hit_target")
    start, target = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -2.0]]), np.array([[20.0, 0.0, 5.0], [8.0, 3.0, -2.0]])
    throw = flight.Throw(start, target, drag=0.0, device=device)
    time, n = flight.STEPS * flight.DT, flight.STEPS
    # Each step adds to the speed before it moves.
    fallen = np.array([0.0, -9.8, 0.0]) * flight.DT**2 * n * (n + 1) / 2
    _, gradient = throw.gradient()
    np.testing.assert_allclose(gradient, 2.0 * time * (start + fallen - target), rtol=1e-4)
    np.testing.assert_allclose(throw.aim(3), (target - start - fallen) / time, rtol=1e-4, atol=1e-4)


def test_a_throw_through_air_hits(device):
    flight = example("hit_target")
    throw = flight.Throw([[0.0, 1.0, 0.0]], [[20.0, 0.0, 5.0]], drag=0.02, device=device)
    throw.aim(60)
    loss, _ = throw.gradient()
    assert loss < 1e-4
    # Air slows the ball: it is thrown faster than without.
    free = flight.Throw([[0.0, 1.0, 0.0]], [[20.0, 0.0, 5.0]], drag=0.0, device=device)
    assert np.linalg.norm(throw.velocity.numpy()) > 1.1 * np.linalg.norm(free.aim(3))


@pytest.mark.parametrize("every", [None, 1, 7, 1000, 5000])
def test_a_thousand_steps_from_checkpoints_are_those_from_all_states(device, every):
    chain = example("thousand_steps")
    loss, by_angle, by_coupling = chain.gradients(every, device=device)
    expected = chain.gradients(keep_all=True, device=device)
    np.testing.assert_allclose(loss, expected[0], rtol=1e-12)
    np.testing.assert_allclose(by_angle, expected[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_coupling, expected[2], rtol=1e-9)


@wp.kernel(enable_backward=True)
def decay(
    x: wp.array(dtype=float), rate: wp.array(dtype=float), count: wp.array(dtype=int), next_x: wp.array(dtype=float)
):
    next_x[wp.tid()] = x[wp.tid()] * rate[0] * float(count[0])


def test_gradients_of_parameters_flow_from_checkpoints_of_states_without_gradients(device):
    x = wp.array([3.0], dtype=float, device=device)
    rate = wp.array([0.5], dtype=float, device=device, requires_grad=True)
    count = wp.ones(1, dtype=int, device=device)

    def step(_index, state, next_state):
        wp.copy(next_state[1], state[1])
        wp.launch(decay, 1, [state[0], rate, state[1]], [next_state[0]], device=device)

    with wp.Tape() as tape:
        last, last_count = wp.autograd.checkpoint(step, [x, count], 9)
    assert last.requires_grad and not last_count.requires_grad and x.grad is None
    tape.backward(last)
    np.testing.assert_allclose(rate.grad.numpy(), [3.0 * 9.0 * 0.5**8], rtol=1e-5)
    # Without a tape nothing needs gradients.
    assert not wp.autograd.checkpoint(step, [x, count], 9)[0].requires_grad
