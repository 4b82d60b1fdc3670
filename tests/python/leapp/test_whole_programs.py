"""Programs as people write them, exported and run: each step of the pipeline gives what the program gave."""

import warnings

import numpy as np
import pytest
from _built import operators, torch

import inkle as wp
from inkle import leapp
from inkle.leapp import InputKindEnum, TensorSemantics, TraceWarning, annotate

FORMATS = ["onnx", "pt2"]
JOINTS = 12


def floats(generator, *shape):
    return generator.normal(size=shape).astype(np.float32)


def array(values, dtype=float):
    return wp.array(values, dtype=dtype, device="cpu")


def exported(tmp_path, name, step, measured, steps=3):
    """Traces `steps` steps without a warning, exports the pipeline, and compares what it gives step by step; gives its
    manager."""
    operators()
    leapp.start(name, save_path=str(tmp_path))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", TraceWarning)
            wanted = [{key: np.array(value) for key, value in step(measured(k)).items()} for k in range(steps)]
    finally:
        leapp.stop()
    assert all(leapp.compile_graph().values())
    manager = leapp.InferenceManager(tmp_path / name / f"{name}.yaml")
    for k in range(steps):
        given = {key: value.numpy() if isinstance(value, wp.array) else value for key, value in measured(k).items()}
        found = manager.run_policy(given)
        for key, value in wanted[k].items():
            np.testing.assert_allclose(found[key].numpy(), value, rtol=1e-5, atol=1e-6, err_msg=f"{key}, step {k}")
    return manager


@wp.kernel
def observe(
    pos: wp.array(dtype=float),
    orientation: wp.array(dtype=wp.quat),
    rest: wp.array(dtype=float),
    last: wp.array(dtype=float),
    obs: wp.array(dtype=float),
):
    i = wp.tid()
    n = pos.shape[0]
    obs[i] = (pos[i] - rest[i]) * 1.5
    obs[n + i] = last[i]
    if i == 0:
        down = wp.quat_rotate_inv(orientation[0], wp.vec3(0.0, 0.0, -1.0))
        for k in range(3):
            obs[2 * n + k] = down[k]


@wp.kernel
def smooth(
    action: wp.array(dtype=float),
    kept: wp.array(dtype=float),
    target: wp.array(dtype=float),
    rest: wp.array(dtype=float),
):
    i = wp.tid()
    kept[i] = kept[i] + 0.3 * (action[i] - kept[i])
    target[i] = rest[i] + 0.25 * kept[i]


class Walker:
    """A recurrent policy between kernels; what it keeps are tensors and arrays, and it has a buffer to gather inputs in."""

    def __init__(self, export_with):
        torch.manual_seed(0)
        self.export_with = export_with
        self.cell, self.head = torch.nn.GRUCell(2 * JOINTS + 3, 16), torch.nn.Linear(16, JOINTS)
        self.memory, self.staging = torch.zeros(1, 16), torch.zeros(1, 2 * JOINTS + 3)
        self.last, self.kept = (wp.zeros(JOINTS, dtype=float, device="cpu") for _ in range(2))
        self.rest = array(np.linspace(-0.5, 0.5, JOINTS, dtype=np.float32))

    @torch.no_grad()
    def step(self, measured):
        said = TensorSemantics("pos", measured["walk/pos"], kind=InputKindEnum.JOINT_POSITION)
        pos, orientation = annotate.input_tensors(
            "walk", [said, TensorSemantics("orientation", measured["walk/orientation"])]
        )
        states = {"memory": self.memory, "last": self.last, "kept": self.kept}
        memory, last, kept = annotate.state_tensors("walk", states)
        self.staging = annotate.register_buffer("walk", {"staging": self.staging})
        obs = wp.empty(2 * JOINTS + 3, dtype=float, device="cpu")
        wp.launch(observe, JOINTS, inputs=[pos, orientation, self.rest, last], outputs=[obs], device="cpu")
        self.staging[:] = wp.to_torch(obs)
        memory = self.cell(self.staging, memory)
        action = wp.from_torch(torch.tanh(self.head(memory)).squeeze(0))
        wp.copy(last, action)
        target = wp.empty_like(action)
        wp.launch(smooth, JOINTS, inputs=[action, kept], outputs=[target, self.rest], device="cpu")
        annotate.update_state("walk", {"memory": memory, "last": last, "kept": kept})
        annotate.output_tensors("walk", {"target": target}, export_with=self.export_with)
        self.memory = memory
        return {"walk/target": target.numpy()}


@pytest.mark.parametrize("export_with", FORMATS)
def test_a_recurrent_policy_between_kernels(tmp_path, export_with):
    def measured(k):
        generator = np.random.default_rng(k)
        quat = floats(generator, 1, 4)
        pos = array(floats(generator, JOINTS))
        return {"walk/pos": pos, "walk/orientation": array(quat / np.linalg.norm(quat), wp.quat)}

    manager = exported(tmp_path, "walker", Walker(export_with).step, measured, steps=4)
    kept = {name.removesuffix("_in") for name in manager.feedback_inputs}
    assert kept == {"walk/memory", "walk/last", "walk/kept"}, "the buffer is filled anew in each step"


@wp.kernel
def fuse(
    points: wp.array2d(dtype=wp.vec3),
    pose: wp.array(dtype=wp.transform),
    ground: wp.array(dtype=float),
    height: wp.array2d(dtype=float),
    top: wp.array(dtype=float),
):
    i, j = wp.tid()
    height[i, j] = wp.transform_point(pose[0], points[i, j])[2] - ground[j]
    wp.atomic_max(top, i, height[i, j])


@wp.kernel
def limit(
    action: wp.array(dtype=float),
    low: wp.array(dtype=float),
    out: wp.array(dtype=float),
    hits: wp.array(dtype=wp.int32),
):
    i = wp.tid()
    out[i] = wp.clamp(action[i], low[i], 0.1)
    if out[i] != action[i]:
        wp.atomic_add(hits, 0, 1)


@pytest.mark.parametrize("export_with", FORMATS)
def test_three_stages_that_hand_on_structures(tmp_path, export_with):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(24 + 4 + 3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8))
    low = wp.full(8, -0.05, dtype=float, device="cpu")

    def see(sensors):
        s = annotate.input_tensors("see", {"sensors": sensors})
        height = wp.empty((4, 6), dtype=float, device="cpu")
        top = wp.full(4, -1000.0, dtype=float, device="cpu")
        wp.launch(fuse, (4, 6), inputs=[s["lidar"]["points"], s["pose"], s["ground"][0], height, top], device="cpu")
        wp.synchronize()
        seen = {"map": {"height": height, "top": top}, "scale": [wp.to_torch(top).abs().max()]}
        annotate.output_tensors("see", {"seen": seen}, export_with=export_with)
        return seen

    @torch.no_grad()
    def think(seen, goal):
        seen, goal = annotate.input_tensors("think", {"seen": seen, "goal": goal})
        heights = wp.to_torch(seen["map"]["height"]).flatten() / seen["scale"][0]
        action = network(torch.cat([heights, wp.to_torch(seen["map"]["top"]), goal["position"] * 0.1]))
        annotate.output_tensors("think", {"action": action}, export_with=export_with)
        return action

    def guard(action):
        action = wp.from_torch(annotate.input_tensors("guard", {"action": action}))
        out, hits = wp.empty(8, dtype=float, device="cpu"), wp.zeros(1, dtype=wp.int32, device="cpu")
        wp.launch(limit, 8, inputs=[action, low], outputs=[out, hits], device="cpu")
        annotate.output_tensors("guard", {"joints": out, "hits": hits}, export_with="inkle")
        return {"guard/joints": out.numpy(), "guard/hits": hits.numpy()}

    def measured(k):
        generator = np.random.default_rng(k)
        quat = floats(generator, 4)
        pose = np.concatenate([floats(generator, 3), quat / np.linalg.norm(quat)])
        return {
            "see/sensors_lidar_points": array(floats(generator, 4, 6, 3), wp.vec3),
            "see/sensors_pose": array([pose], wp.transform),
            "see/sensors_ground_0": array(floats(generator, 6)),
            "think/goal_position": torch.from_numpy(floats(generator, 3)),
        }

    def step(values):
        points, pose, ground, goal = values.values()
        return guard(think(see({"lidar": {"points": points}, "pose": pose, "ground": (ground,)}), {"position": goal}))

    manager = exported(tmp_path, "scout", step, measured)
    assert manager.feedback_inputs == []
    assert {file.suffix for file in (tmp_path / "scout").iterdir()} >= {".svg", ".png", ".yaml", ".inkle"}


@wp.kernel
def unproject(depth: wp.array2d(dtype=float), f: float, cloud: wp.array2d(dtype=wp.vec3)):
    v, u = wp.tid()
    cloud[v, u] = wp.vec3((float(u) - 3.5) / f, (float(v) - 2.5) / f, 1.0) * depth[v, u]


@pytest.mark.parametrize("export_with", FORMATS)
def test_frames_of_numpy_with_a_network_and_kernels(tmp_path, export_with):
    torch.manual_seed(2)
    network = torch.nn.Sequential(torch.nn.Linear(6 + 3 + 3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 6))
    mean, deviation = np.linspace(-1, 1, 6, dtype=np.float32), np.full(6, 0.5, np.float32)

    def prepare(state, velocity, depth):
        given = {"state": state, "velocity": velocity, "depth": depth}
        state, velocity, depth = annotate.input_tensors("prepare", given)
        state = np.clip((state - mean) / deviation, -5.0, 5.0)
        near = np.where(depth < 4.0, depth, 4.0).astype(np.float32)
        cloud = wp.empty(near.shape, dtype=wp.vec3, device="cpu")
        wp.launch(
            unproject, near.shape, inputs=[wp.from_numpy(near, dtype=float, device="cpu"), 2.0, cloud], device="cpu"
        )
        centre = cloud.numpy().reshape(-1, 3).mean(axis=0)
        velocity[np.abs(velocity) < 0.05] = 0.0
        obs = np.concatenate([state, velocity, centre], dtype=np.float32)
        annotate.output_tensors("prepare", {"obs": obs, "centre": centre}, export_with=export_with)
        return obs, centre

    def act(obs):
        obs = annotate.input_tensors("act", {"obs": obs})
        with torch.inference_mode():
            action = network(torch.from_numpy(obs).unsqueeze(0)).squeeze(0).numpy()
        action = np.round(action * 100.0) / np.float32(100.0)
        annotate.output_tensors("act", {"action": action}, export_with=export_with)
        return action

    def measured(k):
        generator = np.random.default_rng(k)
        depth = generator.uniform(0.5, 8, size=(6, 8)).astype(np.float32)
        return {
            "prepare/state": floats(generator, 6),
            "prepare/velocity": floats(generator, 3),
            "prepare/depth": depth,
        }

    def step(values):
        obs, centre = prepare(*values.values())
        return {"act/action": act(obs), "prepare/centre": centre}

    exported(tmp_path, "arm", step, measured)
