"""The gradient of a chain of pendulums after 1,000 steps, with about 60 states in memory in place of 1,001.

`wp.autograd.checkpoint` keeps some of the states, and runs the steps between two of them again when it needs them.
"""

import numpy as np

import inkle as wp

LINKS, STEPS, DT = 64, 1000, 0.01
wp.set_module_options({"enable_backward": True})


@wp.kernel
def swing(
    angle: wp.array(dtype=wp.float64),
    speed: wp.array(dtype=wp.float64),
    coupling: wp.array(dtype=wp.float64),
    dt: wp.float64,
    next_angle: wp.array(dtype=wp.float64),
    next_speed: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    n = angle.shape[0]
    pull = coupling[0] * (angle[(i + 1) % n] + angle[(i + n - 1) % n] - wp.float64(2.0) * angle[i])
    moved = speed[i] + dt * (pull - wp.sin(angle[i]))
    next_speed[i] = moved
    next_angle[i] = angle[i] + dt * moved


@wp.kernel
def energy(speed: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    wp.atomic_add(loss, 0, speed[wp.tid()] * speed[wp.tid()])


def gradients(every=None, keep_all=False, device=None):
    """The loss, and its gradients by the angles at the start and by the coupling."""

    def numbers(data):
        return wp.array(data, dtype=wp.float64, device=device, requires_grad=True)

    angle, coupling = numbers(np.sin(np.arange(LINKS) * 0.37)), numbers([0.8])
    start = [angle, numbers(np.zeros(LINKS))]
    loss = numbers([0.0])

    def step(_, state, following):
        wp.launch(swing, LINKS, [*state, coupling, DT], following, device=device)

    with wp.Tape() as tape:
        if keep_all:
            states = [start] + [[numbers(np.zeros(LINKS)) for _ in start] for _ in range(STEPS)]
            for t in range(STEPS):
                step(t, states[t], states[t + 1])
            end = states[-1]
        else:
            end = wp.autograd.checkpoint(step, start, STEPS, every)
        wp.launch(energy, LINKS, [end[1]], [loss], device=device)
    tape.backward(loss)
    found = float(loss.numpy()[0]), angle.grad.numpy().copy(), float(coupling.grad.numpy()[0])
    tape.zero()
    return found


def main():
    loss, by_angle, by_coupling = gradients()
    print(f"loss {loss:.6f}, by the coupling {by_coupling:.6f}, by the first angles {by_angle[:3]}")


if __name__ == "__main__":
    main()
