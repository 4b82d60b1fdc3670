"""Forward and backward passes of three problems; prints the seconds of each repetition and of compiling.

A repetition records a tape, runs it backwards and makes the gradients zero, as a step of a training loop does. What is
compiled is compiled into an empty cache: first kernels without a backward pass, then, in another process that
`BENCH_BACKWARD` asks for, with one.
"""

import json
import os
import time

import numpy as np
from kernels import wp

DEVICE = os.environ.get("BENCH_DEVICE", "cpu")
QUICK = bool(os.environ.get("BENCH_QUICK"))
BACKWARD = os.environ.get("BENCH_BACKWARD", "1") == "1"
ON_GPU = DEVICE != "cpu"
SCALE = 4 if ON_GPU and not QUICK else 1
BODIES = 512 if QUICK else 2048 * SCALE
BATCH, WIDTHS = (64, (16, 32, 32, 8)) if QUICK else (1024 * SCALE, (64, 128, 128, 16))
SIDE, STEPS = (32, 4) if QUICK else (256 * SCALE, 10)
SOFTENING = wp.constant(0.01)
wp.set_module_options({"enable_backward": BACKWARD})


@wp.kernel
def attract(position: wp.array(dtype=wp.vec3), mass: wp.array(dtype=float), acceleration: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    here = position[i]
    force = wp.vec3(0.0, 0.0, 0.0)
    for j in range(position.shape[0]):
        d = position[j] - here
        inverse = 1.0 / wp.sqrt(wp.dot(d, d) + SOFTENING)
        force += d * (mass[j] * inverse * inverse * inverse)
    acceleration[i] = force


@wp.kernel
def energy(v: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, wp.dot(v[wp.tid()], v[wp.tid()]))


@wp.kernel
def layer(
    weights: wp.array2d(dtype=float),
    bias: wp.array(dtype=float),
    x: wp.array2d(dtype=float),
    y: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    total = bias[j]
    for k in range(x.shape[1]):
        total += weights[k, j] * x[i, k]
    y[i, j] = total


@wp.kernel
def activate(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[i, j] = wp.tanh(x[i, j])


@wp.kernel
def squared_error(y: wp.array2d(dtype=float), wanted: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    d = y[i, j] - wanted[i, j]
    wp.atomic_add(loss, 0, d * d)


@wp.kernel
def pull(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    ends: wp.array2d(dtype=int),
    rest: wp.array(dtype=float),
    stiffness: wp.array(dtype=float),
    force: wp.array(dtype=wp.vec3),
):
    s = wp.tid()
    i, j = ends[s, 0], ends[s, 1]
    d = x[j] - x[i]
    length = wp.length(d)
    direction = d / length
    along = stiffness[s] * (length - rest[s]) + 0.1 * wp.dot(v[j] - v[i], direction)
    wp.atomic_add(force, i, direction * along)
    wp.atomic_sub(force, j, direction * along)


@wp.kernel
def integrate(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
    dt: float,
    next_x: wp.array(dtype=wp.vec3),
    next_v: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    moved = v[i] + (force[i] + wp.vec3(0.0, -9.8, 0.0)) * dt
    next_v[i] = moved
    next_x[i] = x[i] + moved * dt


rng = np.random.default_rng(3)


def numbers(shape, scale=1.0, dtype=float, grad=True):
    data = (scale * rng.standard_normal(shape)).astype(np.float32)
    return wp.array(data, dtype=dtype, device=DEVICE, requires_grad=grad)


def like(array):
    return wp.zeros_like(array, requires_grad=True)


class Bodies:
    """The gradient of the sum of squared accelerations by all positions and masses."""

    def __init__(self):
        self.position, self.mass = numbers((BODIES, 3), dtype=wp.vec3), numbers(BODIES)
        self.acceleration = like(self.position)
        self.wanted = [self.position, self.mass]

    def forward(self, loss):
        wp.launch(attract, BODIES, [self.position, self.mass], [self.acceleration], device=DEVICE)
        wp.launch(energy, BODIES, [self.acceleration], [loss], device=DEVICE)


class Network:
    """The gradient of a network's squared error by all weights."""

    def __init__(self):
        pairs = list(zip(WIDTHS, WIDTHS[1:]))
        self.weights = [numbers(pair, 0.2) for pair in pairs]
        self.biases = [numbers(n) for _, n in pairs]
        self.x = numbers((BATCH, WIDTHS[0]), grad=False)
        self.sums, self.y = ([numbers((BATCH, n)) for _, n in pairs] for _ in range(2))
        self.goal = numbers((BATCH, WIDTHS[-1]), grad=False)
        self.wanted = [*self.weights, *self.biases]

    def forward(self, loss):
        x = self.x
        for weights, bias, sums, y in zip(self.weights, self.biases, self.sums, self.y):
            # Of a kernel that uses what a loop summed up Warp's gradients are not right.
            wp.launch(layer, sums.shape, [weights, bias, x], [sums], device=DEVICE)
            wp.launch(activate, y.shape, [sums], [y], device=DEVICE)
            x = y
        wp.launch(squared_error, x.shape, [x, self.goal], [loss], device=DEVICE)


class Springs:
    """The gradient of the kinetic energy of a net after some steps by the stiffness of every spring."""

    def __init__(self):
        at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
        ends = np.concatenate(
            [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((at[:, :-1], at[:, 1:]), (at[:-1], at[1:]))]
        )
        x = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), [0.0], indexing="ij"), -1).reshape(-1, 3)
        self.ends = wp.array(ends.astype(np.int32), dtype=int, device=DEVICE)
        self.rest = wp.array(np.full(len(ends), 0.9), dtype=float, device=DEVICE)
        self.stiffness = wp.array(np.full(len(ends), 100.0), dtype=float, device=DEVICE, requires_grad=True)
        self.x = [wp.array(x, dtype=wp.vec3, device=DEVICE, requires_grad=True)]
        self.x += [like(self.x[0]) for _ in range(STEPS)]
        self.v = [like(self.x[0]) for _ in range(STEPS + 1)]
        self.force = [like(self.x[0]) for _ in range(STEPS)]
        self.wanted = [self.stiffness]

    def forward(self, loss):
        for force in self.force:
            force.zero_()
        for t in range(STEPS):
            x, v, force = self.x[t], self.v[t], self.force[t]
            inputs = [x, v, self.ends, self.rest, self.stiffness]
            wp.launch(pull, len(self.rest), inputs, [force], device=DEVICE)
            wp.launch(integrate, len(x), [x, v, force, 1e-3], [self.x[t + 1], self.v[t + 1]], device=DEVICE)
        wp.launch(energy, len(self.v[-1]), [self.v[-1]], [loss], device=DEVICE)


def repetitions(problem, repeats):
    """Seconds of each repetition, and the sums of the gradients."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        loss = wp.zeros(1, dtype=float, device=DEVICE, requires_grad=True)
        tape = wp.Tape()
        with tape:
            problem.forward(loss)
        if BACKWARD:
            tape.backward(loss)
        wp.synchronize_device(DEVICE)
        taken.append(time.perf_counter() - start)
        sums = [float(np.abs(a.grad.numpy()).sum(dtype=np.float64)) for a in problem.wanted]
        tape.zero()
    return taken, sums


problems = {"n-body": Bodies(), "network of 3 layers": Network(), "springs": Springs()}
# All is compiled before anything is measured: what is compiled in the background takes a core.
first = {name: repetitions(problem, 1)[0][0] for name, problem in problems.items()}
measured, gradients = {}, {}
for name, problem in problems.items():
    measured[name], gradients[name] = repetitions(problem, 1 if not BACKWARD else 3 if QUICK else 5)
compiling = sum(max(0.0, once - min(measured[name])) for name, once in first.items())
work = {"n-body": {"pairs": BODIES * BODIES}, "springs": {"springs": 2 * SIDE * (SIDE - 1) * STEPS}}
print(json.dumps({"seconds": measured, "compile_s": compiling, "gradients": gradients, "work": work}))
