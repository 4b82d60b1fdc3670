"""Compute the observations of a walking policy for many rollouts of a MuJoCo humanoid, in kernels.

A humanoid (the model file that ships inside gymnasium) is stepped by MuJoCo under random controls in many
rollouts. The states of its base, joints and feet are gathered into arrays, and three kernels turn them into the
observation vectors a policy would read: gravity and velocities in the base's own frame, joint angles and scaled,
clipped joint velocities, and the height of each foot above the floor. Every number is checked against numpy, the
foot heights against MuJoCo's own geometry as well, and what took how long is printed.
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

IMPORT_START = time.perf_counter()
import inkle as wp  # noqa: E402  (its import is timed)

IMPORT_SECONDS = time.perf_counter() - IMPORT_START

# What stands where in an observation: gravity, linear and angular velocity of the base, then joints, then feet.
N_JOINTS, N_FEET = 17, 2
BASE, JOINT_ANGLE, JOINT_SPEED, FEET = 0, 9, 9 + N_JOINTS, 9 + 2 * N_JOINTS
SIZE = FEET + N_FEET


@wp.struct
class Scales:
    linear: float
    angular: float
    joint: float
    joint_limit: float


@wp.func
def from_mujoco(wxyz: wp.vec4):
    return wp.quat(wxyz[1], wxyz[2], wxyz[3], wxyz[0])


@wp.kernel
def observe_base(
    orientation: wp.array(dtype=wp.vec4),
    linear: wp.array(dtype=wp.vec3),
    angular: wp.array(dtype=wp.vec3),
    scales: Scales,
    observation: wp.array2d(dtype=float),
):
    i = wp.tid()
    q = from_mujoco(orientation[i])
    gravity = wp.quat_rotate_inv(q, wp.vec3(0.0, 0.0, -1.0))
    # MuJoCo gives a free joint's linear velocity in the world's frame and its angular velocity in the body's.
    velocity = wp.quat_rotate_inv(q, linear[i]) * scales.linear
    spin = angular[i] * scales.angular
    for k in range(3):
        observation[i, BASE + k] = gravity[k]
        observation[i, BASE + 3 + k] = velocity[k]
        observation[i, BASE + 6 + k] = spin[k]


@wp.kernel
def observe_joints(
    angle: wp.array2d(dtype=float),
    speed: wp.array2d(dtype=float),
    rest: wp.array(dtype=float),
    scales: Scales,
    observation: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    observation[i, JOINT_ANGLE + j] = angle[i, j] - rest[j]
    observation[i, JOINT_SPEED + j] = wp.clamp(speed[i, j] * scales.joint, -scales.joint_limit, scales.joint_limit)


@wp.kernel
def observe_feet(
    position: wp.array2d(dtype=wp.vec3),
    orientation: wp.array2d(dtype=wp.vec4),
    sole: wp.array(dtype=wp.vec3),
    radius: wp.array(dtype=float),
    observation: wp.array2d(dtype=float),
):
    i, foot = wp.tid()
    centre = position[i, foot] + wp.quat_rotate(from_mujoco(orientation[i, foot]), sole[foot])
    observation[i, FEET + foot] = centre[2] - radius[foot]


def load_humanoid():
    """The humanoid model that the gymnasium package ships; found without importing gymnasium."""
    import mujoco

    spec = importlib.util.find_spec("gymnasium")
    if spec is None:
        sys.exit("observations: the humanoid model comes with the package gymnasium: pip install gymnasium")
    path = Path(spec.submodule_search_locations[0]) / "envs" / "mujoco" / "assets" / "humanoid.xml"
    return mujoco.MjModel.from_xml_path(str(path))


def simulate(model, rollouts, steps, rng):
    """Step `rollouts` humanoids `steps` times each; states as float32 arrays of `[rollouts * steps, ...]`."""
    import mujoco

    feet = [model.body(name).id for name in ("right_foot", "left_foot")]
    soles = [int(model.body_geomadr[body]) for body in feet]
    shapes = {
        "orientation": (4,),
        "linear": (3,),
        "angular": (3,),
        "angle": (N_JOINTS,),
        "speed": (N_JOINTS,),
        "foot_position": (N_FEET, 3),
        "foot_orientation": (N_FEET, 4),
        "sole_height": (N_FEET,),
    }
    states = {name: np.empty((rollouts, steps, *shape), dtype=np.float32) for name, shape in shapes.items()}
    low, high = model.actuator_ctrlrange.T
    for rollout in range(rollouts):
        data = mujoco.MjData(model)
        data.qvel[:] = rng.normal(0.0, 0.1, model.nv)
        for step in range(steps):
            if step % 10 == 0:
                data.ctrl[:] = rng.uniform(low, high)
            mujoco.mj_step(model, data)
            # Body poses belong to the state before the step until they are computed again.
            mujoco.mj_kinematics(model, data)
            row = rollout, step
            states["orientation"][row] = data.qpos[3:7]
            states["linear"][row] = data.qvel[0:3]
            states["angular"][row] = data.qvel[3:6]
            states["angle"][row] = data.qpos[7:]
            states["speed"][row] = data.qvel[6:]
            states["foot_position"][row] = data.xpos[feet]
            states["foot_orientation"][row] = data.xquat[feet]
            states["sole_height"][row] = data.geom_xpos[soles, 2] - model.geom_size[soles, 0]
    flat = {name: values.reshape(rollouts * steps, *shapes[name]) for name, values in states.items()}
    flat["rest"] = model.qpos0[7:].astype(np.float32)
    flat["sole"] = model.geom_pos[soles].astype(np.float32)
    flat["radius"] = model.geom_size[soles, 0].astype(np.float32)
    return flat


def observe_numpy(states, linear, angular, joint, joint_limit):
    """The same observations in numpy, float64, by rotation matrices rather than quaternions."""

    def matrices(wxyz):
        w, x, y, z = np.moveaxis(wxyz.astype(np.float64), -1, 0)
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        return np.moveaxis(np.array(rows), (0, 1), (-2, -1))

    to_world = matrices(states["orientation"])
    gravity = -to_world[:, 2, :]
    velocity = np.einsum("nij,ni->nj", to_world, states["linear"]) * linear
    soles = np.einsum("nfij,fj->nfi", matrices(states["foot_orientation"]), states["sole"])
    return np.concatenate(
        [
            gravity,
            velocity,
            states["angular"] * angular,
            states["angle"] - states["rest"],
            np.clip(states["speed"] * joint, -joint_limit, joint_limit),
            states["foot_position"][..., 2] + soles[..., 2] - states["radius"],
        ],
        axis=1,
    )


def plot(path, observation, seconds):
    """Four panels over `[rollouts, steps, SIZE]` observations and the `seconds` of each step."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ((gravity, feet), (speed, everything)) = plt.subplots(2, 2, figsize=(12, 7.5), layout="constrained")

    def band(axes, values, label):
        low, middle, high = np.percentile(values, (10, 50, 90), axis=0)
        (line,) = axes.plot(seconds, middle, label=label)
        axes.fill_between(seconds, low, high, alpha=0.2, color=line.get_color())

    for k, name in enumerate("xyz"):
        band(gravity, observation[:, :, BASE + k], name)
    gravity.set(title="gravity in the base's frame", ylabel="direction", xlabel="time [s]")
    for k, name in enumerate(("right", "left")):
        band(feet, observation[:, :, FEET + k], name)
    feet.axhline(0.0, color="black", linewidth=0.8)
    feet.set(title="height of the soles above the floor", ylabel="height [m]", xlabel="time [s]")
    for axes in (gravity, feet):
        axes.legend(title="median, 10 to 90 %", loc="best")
    speed.hist(observation[:, :, JOINT_SPEED:FEET].ravel(), bins=101, log=True)
    speed.set(title="joint velocities, scaled and clipped", xlabel="observation", ylabel="count")
    shown = everything.imshow(
        observation[0].T, aspect="auto", cmap="RdBu_r", vmin=-3, vmax=3, extent=(seconds[0], seconds[-1], SIZE, 0)
    )
    everything.set(title="all observations of one rollout", xlabel="time [s]", ylabel="component")
    figure.colorbar(shown, ax=everything)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    parser.add_argument("--rollouts", type=int, default=48)
    parser.add_argument("--steps", type=int, default=400, help="steps of each rollout")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the plot")
    args = parser.parse_args()

    model = load_humanoid()
    start = time.perf_counter()
    states = simulate(model, args.rollouts, args.steps, np.random.default_rng(3))
    simulate_seconds = time.perf_counter() - start

    def array(name, dtype):
        return wp.array(states[name], dtype=dtype, device=args.device)

    start = time.perf_counter()
    orientation, linear, angular = array("orientation", wp.vec4), array("linear", wp.vec3), array("angular", wp.vec3)
    angle, speed, rest = array("angle", float), array("speed", float), array("rest", float)
    foot_position, foot_orientation = array("foot_position", wp.vec3), array("foot_orientation", wp.vec4)
    sole, radius = array("sole", wp.vec3), array("radius", float)
    count = args.rollouts * args.steps
    observation = wp.zeros((count, SIZE), dtype=float, device=args.device)
    wp.synchronize_device(args.device)
    gather_seconds = time.perf_counter() - start

    scales = Scales()
    scales.linear, scales.angular, scales.joint, scales.joint_limit = 2.0, 0.25, 0.1, 3.0

    def observe():
        wp.launch(observe_base, count, [orientation, linear, angular, scales], [observation], device=args.device)
        wp.launch(observe_joints, (count, N_JOINTS), [angle, speed, rest, scales], [observation], device=args.device)
        feet = [foot_position, foot_orientation, sole, radius]
        wp.launch(observe_feet, (count, N_FEET), feet, [observation], device=args.device)

    def timed():
        start = time.perf_counter()
        observe()
        wp.synchronize_device(args.device)
        return time.perf_counter() - start

    first = timed()
    run = sorted(timed() for _ in range(5))[2]
    result = observation.numpy()

    start = time.perf_counter()
    expected = observe_numpy(states, scales.linear, scales.angular, scales.joint, scales.joint_limit)
    numpy_seconds = time.perf_counter() - start
    worst = float(np.abs(result - expected).max())
    worst_sole = float(np.abs(result[:, FEET:] - states["sole_height"]).max())

    args.out.mkdir(parents=True, exist_ok=True)
    seconds = (np.arange(args.steps) + 1) * model.opt.timestep
    plot(args.out / "observations.png", result.reshape(args.rollouts, args.steps, SIZE), seconds)

    print(f"observations: {args.rollouts} humanoids, {args.steps} steps each, {SIZE} numbers a step, on {args.device}")
    print(f"  import inkle            {IMPORT_SECONDS * 1e3:9.1f} ms")
    print(f"  simulate (MuJoCo)       {simulate_seconds * 1e3:9.1f} ms")
    print(f"  states into arrays      {gather_seconds * 1e3:9.1f} ms")
    print(f"  compile, first launches {max(first - run, 0.0) * 1e3:9.1f} ms   (three kernels)")
    print(f"  observe, three kernels  {run * 1e3:9.2f} ms   ({count / run / 1e6:.1f} M observations/s)")
    print(f"  the same in numpy       {numpy_seconds * 1e3:9.1f} ms   ({numpy_seconds / run:.0f} times as long)")
    print(f"  largest difference from numpy {worst:.1e}, of the soles from MuJoCo {worst_sole:.1e} m")
    print(f"  plot in {args.out}/observations.png")
    if not (worst < 1e-4 and worst_sole < 1e-4):
        sys.exit("observations: the kernels and numpy do not agree")


if __name__ == "__main__":
    main()
