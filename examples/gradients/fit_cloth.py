"""Finds how stiff a hanging cloth is from where its points are after a while.

A net of springs, held at two corners, falls for some steps. The forces are added up by atomic operations, one thread a
spring, and every state is kept, so that the tape can run the whole fall backwards: from the distance to the wanted
positions to the stiffness along rows and along columns. Adam does the rest.
"""

import numpy as np

import inkle as wp

SIDE, STEPS, DT = 12, 60, 0.01
wp.set_module_options({"enable_backward": True})


@wp.kernel
def pull(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    ends: wp.array2d(dtype=int),
    kind: wp.array(dtype=int),
    log_stiffness: wp.array(dtype=float),
    rest: float,
    force: wp.array(dtype=wp.vec3),
):
    s = wp.tid()
    i, j = ends[s, 0], ends[s, 1]
    d = x[j] - x[i]
    length = wp.length(d)
    direction = d / length
    along = wp.exp(log_stiffness[kind[s]]) * (length - rest) + 0.5 * wp.dot(v[j] - v[i], direction)
    wp.atomic_add(force, i, direction * along)
    wp.atomic_sub(force, j, direction * along)


@wp.kernel
def move(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
    is_free: wp.array(dtype=float),
    next_x: wp.array(dtype=wp.vec3),
    next_v: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    speed = (v[i] + (force[i] / 0.1 + wp.vec3(0.0, -9.8, 0.0)) * DT) * is_free[i]
    next_v[i] = speed
    next_x[i] = x[i] + speed * DT


@wp.kernel
def distance(x: wp.array(dtype=wp.vec3), wanted: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    d = x[wp.tid()] - wanted[wp.tid()]
    wp.atomic_add(loss, 0, wp.dot(d, d))


class Cloth:
    """A square net in the plane y = 0, and where it is after each step."""

    def __init__(self, device=None):
        self.device = wp.get_device(device)
        at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
        pairs = [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((at[:, :-1], at[:, 1:]), (at[:-1], at[1:]))]
        free = np.ones(SIDE * SIDE)
        free[[0, SIDE - 1]] = 0.0
        i, j = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
        start = 0.1 * np.stack([i, 0 * i, j], -1).reshape(-1, 3)
        with wp.ScopedDevice(self.device):
            self.ends = wp.array(np.concatenate(pairs), dtype=int)
            self.kind = wp.array(np.repeat([0, 1], [len(p) for p in pairs]), dtype=int)
            self.is_free = wp.array(free, dtype=float)
            self.x = [wp.array(start, dtype=wp.vec3, requires_grad=True)]
            self.x += [wp.zeros_like(self.x[0]) for _ in range(STEPS)]
            self.v = [wp.zeros_like(self.x[0]) for _ in range(STEPS + 1)]
            self.force = [wp.zeros_like(self.x[0]) for _ in range(STEPS)]

    def fall(self, log_stiffness):
        """Runs all steps; the positions at the end are `x[-1]`."""
        with wp.ScopedDevice(self.device):
            for t in range(STEPS):
                x, v, force = self.x[t], self.v[t], self.force[t]
                force.zero_()
                springs = [x, v, self.ends, self.kind, log_stiffness, 0.1]
                wp.launch(pull, len(self.kind), springs, [force])
                wp.launch(move, len(x), [x, v, force, self.is_free], [self.x[t + 1], self.v[t + 1]])


def fit(wanted, guess, iterations=120, device=None, report=None):
    """The stiffness along rows and columns with which a cloth falls to the positions `wanted`, from a guess on."""
    cloth = Cloth(device)
    wanted = wp.array(wanted, dtype=wp.vec3, device=device)
    log_stiffness = wp.array(np.log(guess), dtype=float, device=device, requires_grad=True)
    optimizer = wp.optim.Adam([log_stiffness], lr=0.05)
    loss = wp.zeros(1, dtype=float, device=device, requires_grad=True)
    for iteration in range(iterations):
        loss.zero_()
        with wp.Tape() as tape:
            cloth.fall(log_stiffness)
            wp.launch(distance, len(wanted), [cloth.x[-1], wanted], [loss], device=device)
        tape.backward(loss)
        optimizer.step([log_stiffness.grad])
        tape.zero()
        if report is not None and iteration % 20 == 0:
            report(iteration, float(loss.numpy()[0]), np.exp(log_stiffness.numpy()))
    return np.exp(log_stiffness.numpy())


def positions(stiffness, device=None):
    """Where a cloth of this stiffness is at the end."""
    cloth = Cloth(device)
    cloth.fall(wp.array(np.log(stiffness), dtype=float, device=device))
    return cloth.x[-1].numpy()


def main():
    true = np.array([30.0, 12.0])
    found = fit(
        positions(true), [15.0, 15.0], report=lambda *seen: print("iteration {}: loss {:.3g}, {}".format(*seen))
    )
    print("true stiffness", true, "found", found)


if __name__ == "__main__":
    main()
