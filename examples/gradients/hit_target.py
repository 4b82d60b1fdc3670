"""Finds how to throw a ball so that it hits a target after a few hundred steps, through air that slows it down.

One launch runs the whole flight: the loop over the steps is in the kernel, and the gradient goes back through it. Without
drag the answer is known, which the tests use.
"""

import numpy as np

import inkle as wp

STEPS, DT = 400, 0.005
wp.set_module_options({"enable_backward": True})


@wp.kernel
def fly(
    start: wp.array(dtype=wp.vec3),
    velocity: wp.array(dtype=wp.vec3),
    target: wp.array(dtype=wp.vec3),
    drag: float,
    steps: int,
    end: wp.array(dtype=wp.vec3),
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    x = start[i]
    v = velocity[i]
    for _ in range(steps):
        v = v + (wp.vec3(0.0, -9.8, 0.0) - v * (drag * wp.length(v))) * DT
        x = x + v * DT
    end[i] = x
    miss = x - target[i]
    wp.atomic_add(loss, 0, wp.dot(miss, miss))


class Throw:
    """Balls, each with a place to start from and a target."""

    def __init__(self, start, target, drag, device=None):
        self.drag, self.device = drag, device
        self.start = wp.array(start, dtype=wp.vec3, device=device)
        self.target = wp.array(target, dtype=wp.vec3, device=device)
        self.velocity = wp.zeros(len(start), dtype=wp.vec3, device=device, requires_grad=True)
        self.end = wp.zeros_like(self.velocity)
        self.loss = wp.zeros(1, dtype=float, device=device, requires_grad=True)

    def gradient(self):
        """The sum of the squared misses, and its gradient by the velocities."""
        self.loss.zero_()
        with wp.Tape() as tape:
            inputs = [self.start, self.velocity, self.target, self.drag, STEPS]
            wp.launch(fly, len(self.start), inputs, [self.end, self.loss], device=self.device)
        tape.backward(self.loss)
        found = self.velocity.grad.numpy().copy()
        tape.zero()
        return float(self.loss.numpy()[0]), found

    def aim(self, iterations):
        """Goes down the gradient; where the balls would go straight, half the curvature is `(STEPS * DT) ** 2`."""
        for _ in range(iterations):
            _, gradient = self.gradient()
            self.velocity.assign(self.velocity.numpy() - gradient / (2.0 * (STEPS * DT) ** 2))
        return self.velocity.numpy()


def main():
    throw = Throw([[0.0, 1.0, 0.0]] * 2, [[20.0, 0.0, 5.0], [8.0, 3.0, -2.0]], drag=0.02)
    for _ in range(6):
        velocity = throw.aim(5)
        print("velocities", np.round(velocity, 3).tolist(), "sum of squared misses", throw.gradient()[0])


if __name__ == "__main__":
    main()
