"""Segments on each device: what a robot's program does, on the CPU and on a GPU."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

import kernels as k  # noqa: E402
import numpy as np  # noqa: E402

import inkle as wp  # noqa: E402
from inkle.leapp import annotate  # noqa: E402

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture
def launch(device):
    return lambda kernel, dim, *arguments: wp.launch(kernel, dim=dim, inputs=list(arguments), device=device)


def run(trace, device, program, size=4, times=2):
    with trace():
        for step in range(times):
            x = annotate.input_tensors("a", {"x": torch.arange(1.0, size + 1, device=device) + step})
            result = program(x)
            result = result if isinstance(result, tuple) else (result,)
            annotate.output_tensors("a", {f"y{i}": y for i, y in enumerate(result)})
    node = trace.check(tolerance=1e-5)
    assert all(port.device == torch.device(device) for port in node.inputs)
    return node


def test_torch_kernel_torch(trace, device, launch):
    def program(x):
        src, dst = wp.from_torch(x * 2), wp.zeros(4, dtype=float, device=device)
        launch(k.squash, 4, src, dst)
        launch(k.scale, 2, dst, 3.0)
        return wp.to_torch(dst) + 1

    node = run(trace, device, program)
    assert len(node.segments) == 1
    from inkle.torch import describe

    targets = describe(node.segments[0].bundle)["targets"]
    assert any("x86-64" in t for t in targets) and any("aarch64" in t for t in targets)
    assert "compute_75" in targets, "code for GPUs, wherever it was recorded"


def test_copies_fills_and_clones(trace, device, launch):
    def program(x):
        a = wp.from_torch(x)
        b = wp.full(4, 2.0, dtype=float, device=device)
        launch(k.add, 4, a, b, b)
        c = wp.clone(b)
        d = wp.zeros(8, dtype=float, device=device)
        wp.copy(d, c, dest_offset=2, count=4)
        b.fill_(7.0)
        launch(k.add, 4, c, b, b)
        return wp.to_torch(d), wp.to_torch(b)

    assert len(run(trace, device, program).segments) == 1


def test_constants_and_partial_writes(trace, device, launch):
    table = wp.array([5.0, 6.0, 7.0, 8.0], dtype=float, device=device)

    def program(x):
        out = torch.full((6,), 9.0, device=device)
        launch(k.add, 4, wp.from_torch(x), table, wp.from_torch(out))
        return out

    run(trace, device, program)


def test_states(trace, device, launch):
    total = wp.zeros(4, dtype=float, device=device)
    with trace():
        for _ in range(3):
            x = annotate.input_tensors("a", {"x": torch.ones(4, device=device)})
            s = annotate.state_tensors("a", {"total": total})
            launch(k.add, 4, wp.from_torch(x), s, s)
            annotate.update_state("a", {"total": s})
            annotate.output_tensors("a", {"y": wp.to_torch(s) * 2})
    node = trace.check()
    assert len(node.segments) == 1 and [v[0].item() for v in node.states[0].output.examples] == [1, 2, 3]


def test_conditions_and_loops(trace, device, launch):
    def program(x):
        a, flag = wp.from_torch(x), wp.zeros(1, dtype=int, device=device)
        launch(k.above, 1, a, 3.0, flag)
        wp.capture_if(flag, lambda: launch(k.scale, 2, a, -1.0), lambda: launch(k.scale, 2, a, 10.0))
        launch(k.above, 1, a, 1.0, flag)
        wp.capture_while(flag, lambda: launch(k.halve_above, 1, a, 1.0, flag))
        return x * 1

    node = run(trace, device, program, times=1)
    assert node.module(torch.tensor([7.0, 1.0, 0.0, 0.0], device=device))[0].tolist() == [-7.0, -1.0, 0.0, 0.0]


def test_structs(trace, device, launch):
    host = np.zeros(3, dtype=k.Body.numpy_dtype())
    host["pos"], host["mass"] = np.arange(9).reshape(3, 3), [1, 2, 3]
    with trace():
        for _ in range(2):
            given = annotate.input_tensors("a", {"bodies": wp.array(host, dtype=k.Body, device=device)})
            out = wp.zeros(3, dtype=k.Body, device=device)
            launch(k.fall, 3, given, 0.5, out)
            annotate.output_tensors("a", {"out": out})
    assert [p.name for p in trace.check().outputs] == ["out_pos", "out_mass", "out_kind"]


def test_numpy_of_an_array(trace, device, launch):
    def program(x):
        a = wp.from_torch(x * 1)
        launch(k.scale, 4, a, 2.0)
        return torch.from_numpy(np.cumsum(a.numpy()) + 1).to(device)

    run(trace, device, program)


def test_between_host_and_gpu(trace, cuda_device):
    def program(x):
        a = wp.from_torch(x * 1)
        wp.launch(k.scale, dim=4, inputs=[a, 2.0], device=cuda_device)
        host = a.to("cpu")
        wp.launch(k.scale, dim=4, inputs=[host, 3.0], device="cpu")
        back = wp.clone(host, device=cuda_device)
        wp.launch(k.add, dim=4, inputs=[a, back], outputs=[back], device=cuda_device)
        return wp.to_torch(back)

    assert len(run(trace, cuda_device, program).segments) == 3


def test_recorded_on_the_cpu_and_run_on_a_gpu(trace, cuda_device):
    def program(x):
        a, b = wp.from_torch(x * 1), wp.zeros(4, dtype=float, device="cpu")
        wp.launch(k.squash, dim=4, inputs=[a, b], device="cpu")
        return wp.to_torch(b) * 1

    node = run(trace, "cpu", program)
    x = torch.arange(4.0)
    (wanted,) = node.module(x)
    (got,) = node.module.to(cuda_device)(x.to(cuda_device))
    assert got.is_cuda and torch.allclose(got.cpu(), wanted)
