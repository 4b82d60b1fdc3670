"""Train a small policy for a MuJoCo humanoid and export it, with its observations in kernels, for three runtimes.

Kernels turn the humanoid's sensors into an observation (those of `observations.py`), PyTorch turns it into targets for
the joints. The policy learns to do what a teacher does, a fixed rule that leans against the fall, on the states that it
gets into itself. One annotated run then becomes models of two nodes: for ONNX Runtime, for PyTorch (.pt2), and, with the
policy in kernels as well, graphs that a C program replays. All are run on the sensors of one fall-free stretch and
compared with the live program, target by target.
"""

import argparse
import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import inkle as wp

if importlib.util.find_spec("torch") is None:
    sys.exit("pipeline: it needs PyTorch and ONNX Runtime; scripts/setup.sh demo installs them")

import torch
from observations import (
    N_FEET,
    N_JOINTS,
    SIZE,
    Scales,
    load_humanoid,
    observe_base,
    observe_feet,
    observe_joints,
)

from inkle import leapp

ROOT = Path(__file__).resolve().parent.parent
SUBSTEPS = 5
STIFFNESS, DAMPING = 6.0, 0.4
HIDDEN, SEEN = 64, SIZE + N_JOINTS
JOINTS = [
    *("abdomen_z", "abdomen_y", "abdomen_x"),
    *(f"{side}_{name}" for side in ("right", "left") for name in ("hip_x", "hip_z", "hip_y", "knee")),
    *(f"{side}_{name}" for side in ("right", "left") for name in ("shoulder1", "shoulder2", "elbow")),
]
#: What the sensors of one humanoid are, and as what kernels see them.
SENSORS = {
    "orientation": ((4,), wp.vec4),
    "linear": ((3,), wp.vec3),
    "angular": ((3,), wp.vec3),
    "angle": ((N_JOINTS,), float),
    "speed": ((N_JOINTS,), float),
    "foot_position": ((N_FEET, 3), wp.vec3),
    "foot_orientation": ((N_FEET, 4), wp.vec4),
}


@wp.kernel
def remember(last: wp.array2d(dtype=float), observation: wp.array2d(dtype=float)):
    i, j = wp.tid()
    observation[i, SIZE + j] = last[i, j]


@wp.kernel
def dense(
    x: wp.array2d(dtype=float),
    weight: wp.array2d(dtype=float),
    bias: wp.array(dtype=float),
    squash: bool,
    y: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    total = bias[j]
    for k in range(x.shape[1]):
        total += weight[j, k] * x[i, k]
    if squash:
        total = wp.tanh(total)
    y[i, j] = total


class Body:
    """What of the model the observations need, and the joints' order."""

    def __init__(self, model):
        self.model = model
        self.feet = [model.body(name).id for name in ("right_foot", "left_foot")]
        soles = [int(model.body_geomadr[body]) for body in self.feet]
        self.joints = [model.joint(j).name for j in range(1, model.njnt)]
        self.actuated = model.actuator_trnid[:, 0] - 1
        self.low, self.high = model.actuator_ctrlrange.T
        self.rest = wp.array(model.qpos0[7:], dtype=float, device="cpu")
        self.sole = wp.array(model.geom_pos[soles], dtype=wp.vec3, device="cpu")
        self.radius = wp.array(model.geom_size[soles, 0], dtype=float, device="cpu")
        self.scales = Scales()
        self.scales.linear, self.scales.angular, self.scales.joint, self.scales.joint_limit = 2.0, 0.25, 0.1, 3.0

    def observe(self, orientation, linear, angular, angle, speed, foot_position, foot_orientation, observation):
        """Launches the kernels of an observation on arrays with a row a humanoid."""
        count = observation.shape[0]
        base = [orientation, linear, angular, self.scales]
        wp.launch(observe_base, count, base, [observation], device="cpu")
        wp.launch(
            observe_joints, (count, N_JOINTS), [angle, speed, self.rest, self.scales], [observation], device="cpu"
        )
        feet = [foot_position, foot_orientation, self.sole, self.radius]
        wp.launch(observe_feet, (count, N_FEET), feet, [observation], device="cpu")


class Humanoids:
    """Humanoids in MuJoCo, each on its own, driven by targets of their joints."""

    def __init__(self, body, count, rng):
        import mujoco

        self.mujoco, self.body = mujoco, body
        self.datas = [mujoco.MjData(body.model) for _ in range(count)]
        for data in self.datas:
            data.qvel[:] = rng.normal(0.0, 0.1, body.model.nv)
            mujoco.mj_forward(body.model, data)

    def sensors(self):
        """What is measured: float32 tensors with a row a humanoid."""
        found = {name: np.empty((len(self.datas), *shape), np.float32) for name, (shape, _) in SENSORS.items()}
        for row, data in enumerate(self.datas):
            found["orientation"][row], found["linear"][row] = data.qpos[3:7], data.qvel[0:3]
            found["angular"][row], found["angle"][row], found["speed"][row] = (
                data.qvel[3:6],
                data.qpos[7:],
                data.qvel[6:],
            )
            found["foot_position"][row] = data.xpos[self.body.feet]
            found["foot_orientation"][row] = data.xquat[self.body.feet]
        return {name: torch.from_numpy(values) for name, values in found.items()}

    def step(self, targets):
        """Moves the joints towards their targets for one step of the policy."""
        for data, target in zip(self.datas, targets.numpy()):
            for _ in range(SUBSTEPS):
                torque = STIFFNESS * (target - data.qpos[7:]) - DAMPING * data.qvel[6:]
                data.ctrl[:] = np.clip(torque[self.body.actuated], self.body.low, self.body.high)
                self.mujoco.mj_step(self.body.model, data)
            # Body poses belong to the state before the step until they are computed again.
            self.mujoco.mj_kinematics(self.body.model, data)

    def standing(self):
        """Which have their base above 1 m."""
        return np.array([data.qpos[2] > 1.0 for data in self.datas])


def observation_of(body, sensors, last):
    """The live program's first stage: kernels, then PyTorch."""
    arrays = {name: wp.from_torch(sensors[name], dtype=dtype) for name, (_, dtype) in SENSORS.items()}
    observation = wp.zeros((last.shape[0], SIZE), dtype=float, device="cpu")
    body.observe(*arrays.values(), observation)
    return torch.cat([wp.to_torch(observation), last], dim=1)


def teacher(observation):
    """Targets of the joints that lean against the fall: a rule over tilt and speed of the base, smoothed over time."""
    gravity, velocity, spin = observation[:, 0:3], observation[:, 3:6] / 2.0, observation[:, 6:9] / 0.25
    rule = torch.zeros(observation.shape[0], N_JOINTS)
    joint = {name: index for index, name in enumerate(JOINTS)}
    tilt, pitch, roll = gravity[:, 0], spin[:, 1], spin[:, 0]
    for side, sign in (("right", 1.0), ("left", -1.0)):
        rule[:, joint[f"{side}_knee"]] = -0.49 - 1.3 * tilt - 0.17 * pitch
        rule[:, joint[f"{side}_hip_y"]] = -1.55 + 2.73 * tilt - 0.22 * pitch + 0.33 * velocity[:, 0]
        sideways = 0.52 * gravity[:, 1] + 0.71 * roll
        rule[:, joint[f"{side}_hip_x"]] = -0.18 - sign * sideways
        rule[:, joint[f"{side}_shoulder1"]] = -sign * (0.18 + 0.11 * tilt)
    rule[:, joint["abdomen_y"]] = -0.43 + 3.09 * tilt + 0.34 * pitch
    rule[:, joint["abdomen_x"]] = -2.59 * gravity[:, 1] + 0.28 * roll
    last = observation[:, SIZE:]
    return last + 0.3 * (rule - last)


def network():
    layers = torch.nn.Linear(SEEN, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.Tanh()
    return torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN, N_JOINTS))


def train(body, rounds, humanoids, steps):
    """A network that does what the teacher would do, in the states that it gets itself into: the loss of each round."""
    torch.manual_seed(0)
    policy, rng = network(), np.random.default_rng(0)
    optimizer = torch.optim.Adam(policy.parameters(), 3e-3)
    seen, wanted, losses = [], [], []
    for round_ in range(rounds):
        crowd, last = Humanoids(body, humanoids, rng), torch.zeros(humanoids, N_JOINTS)
        for _ in range(steps):
            observation = observation_of(body, crowd.sensors(), last)
            with torch.no_grad():
                right = teacher(observation)
                last = right if round_ == 0 else policy(observation)
            up = crowd.standing()
            seen.append(observation[up])
            wanted.append(right[up])
            crowd.step(last)
        x, y = torch.cat(seen), torch.cat(wanted)
        for _ in range(300):
            batch = torch.randint(len(x), (512,))
            loss = torch.nn.functional.mse_loss(policy(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(float(loss.detach()))
    return policy.requires_grad_(False), losses


def annotated(body, policy, sensors, last, export_with):
    """One step of the program, its two stages marked."""
    given = leapp.annotate.input_tensors("observe", {**sensors, "last": last})
    *values, last = given
    observation = observation_of(body, dict(zip(SENSORS, values)), last)
    observation = leapp.annotate.output_tensors("observe", {"observation": observation}, export_with=export_with)
    observation = leapp.annotate.input_tensors("policy", {"observation": observation})
    said = leapp.TensorSemantics(
        "targets", policy(observation), leapp.OutputKindEnum.JOINT_POSITION, [None, JOINTS], {"unit": "rad"}
    )
    gains = {"kp": torch.full((N_JOINTS,), STIFFNESS), "kd": torch.full((N_JOINTS,), DAMPING)}
    found = leapp.annotate.output_tensors("policy", [said], static_outputs=gains, export_with=export_with)
    return found[0] if isinstance(found, tuple) else found


def annotated_in_kernels(body, weights, sensors, last):
    """The same step with kernels only, for programs that have neither Python nor PyTorch."""
    arrays = {name: wp.from_torch(sensors[name].clone(), dtype=dtype) for name, (_, dtype) in SENSORS.items()}
    given = leapp.annotate.input_tensors("observe", {**arrays, "last": last})
    *values, last = given
    observation = wp.zeros((1, SEEN), dtype=float, device="cpu")
    body.observe(*values, observation)
    wp.launch(remember, (1, N_JOINTS), [last], [observation], device="cpu")
    observation = leapp.annotate.output_tensors("observe", {"observation": observation}, export_with="inkle")
    x = leapp.annotate.input_tensors("policy", {"observation": observation})
    for index, (weight, bias) in enumerate(weights):
        y = wp.zeros((1, bias.shape[0]), dtype=float, device="cpu")
        wp.launch(dense, y.shape, [x, weight, bias, index + 1 < len(weights)], [y], device="cpu")
        x = y
    said = leapp.TensorSemantics("targets", x, leapp.OutputKindEnum.JOINT_POSITION, [None, JOINTS], {"unit": "rad"})
    return leapp.annotate.output_tensors("policy", [said], export_with="inkle")


def record(body, policy, steps):
    """What the live program does with one humanoid: sensors and targets of every step."""
    one, last = Humanoids(body, 1, np.random.default_rng(7)), torch.zeros(1, N_JOINTS)
    sensors, targets = [], []
    for _ in range(steps):
        sensors.append(one.sensors())
        last = policy(observation_of(body, sensors[-1], last))
        targets.append(last)
        one.step(last)
        if not one.standing()[0]:
            break
    return sensors, torch.cat(targets).numpy()


def export(out, body, policy, sensors):
    """Traces the program three times, for the three runtimes; the folders of their files."""
    weights = [
        (
            wp.array(layer.weight.numpy(), dtype=float, device="cpu"),
            wp.array(layer.bias.numpy(), dtype=float, device="cpu"),
        )
        for layer in policy
        if isinstance(layer, torch.nn.Linear)
    ]
    for export_with in ("onnx", "pt2", "inkle"):
        leapp.start(f"humanoid_{export_with}", save_path=str(out))
        last = torch.zeros(1, N_JOINTS)
        if export_with == "inkle":
            last = wp.zeros((1, N_JOINTS), dtype=float, device="cpu")
        for measured in sensors[:3]:
            if export_with == "inkle":
                last = annotated_in_kernels(body, weights, measured, last)
            else:
                last = annotated(body, policy, measured, last, export_with)
        leapp.stop()
        rate = 1.0 / (SUBSTEPS * body.model.opt.timestep)
        leapp.compile_graph(graph_configs=leapp.GraphConfigs(round(rate, 2), {"robot": "MuJoCo humanoid"}))
    for ending in ("svg", "png"):
        shutil.copy(out / "humanoid_onnx" / f"humanoid_onnx.{ending}", out / f"pipeline.{ending}")


def run_exported(folder, sensors, device):
    """The exported pipeline's targets, and the seconds of a step (the median)."""
    manager = leapp.InferenceManager(folder / f"{folder.name}.yaml", device)
    given = [{f"observe/{name}": value for name, value in measured.items()} for measured in sensors]
    manager.run_policy(given[0])
    manager.reset()
    targets, times = [], []
    for values in given:
        start = time.perf_counter()
        targets.append(manager.run_policy(values)["policy/targets"].cpu())
        times.append(time.perf_counter() - start)
    return torch.cat(targets).numpy(), float(np.median(times))


def run_c(out, sensors):
    """The same by the C program, which is compiled here against the replay library."""
    kit, program = ROOT / "build/replay-kit", ROOT / "build/humanoid"
    subprocess.run([ROOT / "scripts/replay_kit.sh", kit], check=True)
    source = ROOT / "demos/humanoid.c"
    libraries = [kit / "lib/libinkle_replay.a", "-lm", "-static-libgcc"]
    subprocess.run(["cc", "-O2", source, "-I", kit / "include", *libraries, "-o", program], check=True)
    folder, recorded, targets = out / "humanoid_inkle", out / "humanoid_inkle/sensors", out / "humanoid_inkle/targets"
    with recorded.open("wb") as file:
        for measured in sensors:
            for value in measured.values():
                file.write(value.numpy().tobytes())
    graphs = [folder / "observe.inkle", folder / "policy.inkle"]
    said = subprocess.run([program, *graphs, recorded, targets], check=True, capture_output=True, text=True).stdout
    found = np.fromfile(targets, np.float32).reshape(-1, N_JOINTS)
    return found, float(said.split()[1]) * 1e-6


def plot(path, live, runs, seconds):
    """Targets of some joints by every runtime, and how far each is from the live program."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(11, 7), sharex=True, layout="constrained", height_ratios=(2.4, 1)
    )
    colors = {"right_knee": "#2f6fed", "right_hip_y": "#e4743b", "abdomen_x": "#17a07f", "left_hip_x": "#8247e5"}
    for name, color in colors.items():
        label = name.replace("_", " ")
        above.plot(seconds, live[:, JOINTS.index(name)], linewidth=4.0, alpha=0.4, color=color, label=label)
    styles = {"ONNX Runtime": ("o", 7.0), "PyTorch, .pt2": ("+", 8.0), "C program": (".", 4.0)}
    every = 3 * max(len(live) // 45, 1)
    for offset, (name, (targets, _)) in enumerate(runs.items()):
        marker, size = styles[name]
        look = {"marker": marker, "markersize": size, "fillstyle": "none", "linestyle": "none", "color": "#30343f"}
        points = slice(offset * every // 3, None, every)
        for joint in colors:
            above.plot(seconds[points], targets[points, JOINTS.index(joint)], **look)
        above.plot([], [], **look, label=name)
        below.semilogy(seconds, np.maximum(np.abs(targets - live).max(axis=1), 1e-9), label=name)
    above.set_title("targets of four joints: the live program (lines) and what was exported (marks)", loc="left")
    above.set(ylabel="angle [rad]")
    below.set_title("largest difference from the live program, over all joints (1e-9: none)", loc="left")
    below.set(ylabel="angle [rad]", xlabel="time [s]", ylim=(5e-10, 1e-4))
    for axes in (above, below):
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--steps", type=int, default=120, help="steps that are compared, if the humanoid stands so long"
    )
    parser.add_argument("--device", default="cpu", help="where ONNX Runtime and PyTorch run the models: cpu or cuda:0")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for models, drawing and plot")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    body = Body(load_humanoid())
    if body.joints != JOINTS:
        sys.exit(f"pipeline: the humanoid of this gymnasium has other joints: {body.joints}")
    start = time.perf_counter()
    policy, losses = train(body, rounds=3, humanoids=12, steps=80)
    train_seconds = time.perf_counter() - start
    sensors, live = record(body, policy, args.steps)

    start = time.perf_counter()
    export(args.out, body, policy, sensors)
    export_seconds = time.perf_counter() - start
    runs = {
        "ONNX Runtime": run_exported(args.out / "humanoid_onnx", sensors, args.device),
        "PyTorch, .pt2": run_exported(args.out / "humanoid_pt2", sensors, args.device),
        "C program": run_c(args.out, sensors),
    }
    step = SUBSTEPS * body.model.opt.timestep
    plot(args.out / "joint_targets.png", live, runs, np.arange(len(live)) * step)

    print(
        f"pipeline: a policy for the humanoid, {SEEN} numbers in, {N_JOINTS} joint targets out, {1 / step:.0f} times a second"
    )
    print(
        f"  train                   {train_seconds:9.1f} s    (mean squared error {losses[0]:.1e} to {losses[-1]:.1e} rad²)"
    )
    print(f"  trace and export        {export_seconds:9.1f} s    (three times two models, checked against the program)")
    print(f"  the humanoid stood for  {len(live) * step:9.2f} s    ({len(live)} steps, which are compared)")
    worst = {name: float(np.abs(targets - live).max()) for name, (targets, _) in runs.items()}
    for name, (_, seconds) in runs.items():
        print(f"  {name:<23} {seconds * 1e6:9.1f} us a step, largest difference {worst[name]:.1e} rad")
    print(f"  drawing in {args.out}/pipeline.svg and .png, plot in {args.out}/joint_targets.png")
    if not max(worst.values()) < 1e-4:
        sys.exit("pipeline: what was exported and the live program do not agree")


if __name__ == "__main__":
    main()
