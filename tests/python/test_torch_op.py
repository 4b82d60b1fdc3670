"""The PyTorch operator inkle::replay."""

import json
import subprocess
import sys
import threading

import _operators as graphs
import numpy as np
import pytest
from _wp import ON_WARP, wp

torch = pytest.importorskip("torch", reason="torch is not installed (scripts/setup.sh test installs it)")
if ON_WARP:
    pytest.skip("the operators are inkle's own", allow_module_level=True)

import inkle.torch  # noqa: E402

inkle.torch.load()
replay = torch.ops.inkle.replay


def tensor(file):
    return torch.frombuffer(bytearray(file), dtype=torch.uint8)


def on(device, *arrays):
    return [torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays]


def numbers(tensors):
    return [tensor.cpu().numpy() for tensor in tensors]


def vectors(count=8, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32), np.array([2.5], dtype=np.float32)


def check_scaling(bundle, x, s):
    before = x.clone()
    y, n = replay(bundle, [x, s])
    right = graphs.scaled(*numbers([x, s]))
    assert y.device == x.device and y.is_contiguous() and torch.equal(x, before)
    np.testing.assert_allclose(y.cpu(), right[0], rtol=1e-6)
    np.testing.assert_allclose(n.cpu(), right[1], rtol=1e-6)
    return y, n


def test_outputs_are_new_and_inputs_stay(tmp_path, device):
    bundle = tensor(graphs.scaling(tmp_path))
    kept = []
    for seed in range(12):
        kept.append(check_scaling(bundle, *on(device, *vectors(seed=seed))))
    for seed, (y, _) in enumerate(kept):
        np.testing.assert_allclose(y.cpu(), vectors(seed=seed)[0] * 2.5, rtol=1e-6)


def test_a_loop_over_the_same_memory(tmp_path, device):
    bundle = tensor(graphs.scaling(tmp_path))
    x, s = on(device, *vectors())
    for seed in range(12):
        x.copy_(on(device, vectors(seed=seed)[0])[0])
        check_scaling(bundle, x, s)


def test_tensors_with_strides_and_offsets(tmp_path, device):
    bundle = tensor(graphs.scaling(tmp_path))
    values, s = on(device, *vectors())
    transposed = values.t().contiguous().t()
    assert not transposed.is_contiguous()
    check_scaling(bundle, transposed, s)
    room = torch.zeros(64, device=device)
    for offset in range(5):
        x = room[offset : offset + 24].view(8, 3)
        x.copy_(values)
        check_scaling(bundle, x, s)
    check_scaling(bundle, values.expand(8, 3), s.expand(1))
    check_scaling(bundle, torch.ones(1, 3, device=device).expand(8, 3), s)


def test_elements_of_many_kinds(tmp_path, device):
    file, inputs, right = graphs.kinds(tmp_path)
    outputs = numbers(replay(tensor(file), on(device, *inputs)))
    for found, wanted in zip(outputs, right, strict=True):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_an_input_that_is_changed_in_place_is_copied(tmp_path, device):
    bundle = tensor(graphs.stepping(tmp_path))
    velocity, position = torch.ones(5, device=device), torch.arange(5.0, device=device)
    for _ in range(4):
        (moved,) = replay(bundle, [velocity, position])
        np.testing.assert_array_equal(moved.cpu(), np.arange(5) + 0.5)
        np.testing.assert_array_equal(position.cpu(), np.arange(5))


def test_every_call_starts_from_the_file(tmp_path, device):
    file = graphs.ticking(tmp_path)
    assert inkle.torch.describe(file)["hidden_state"] == [4]
    bundle = tensor(file) if device == "cpu" else tensor(file).to(device)
    for _ in range(4):
        assert [t.tolist() for t in replay(bundle, [])] == [[41]]


def test_what_is_not_written_is_the_files(tmp_path, device):
    bundle = tensor(graphs.writing_some(tmp_path))
    for k in range(4):
        (y,) = replay(bundle, [torch.arange(3.0, device=device) + k])
        assert y.tolist() == [k, 9.0, k + 1, 9.0, k + 2, 9.0]


def test_parameters_that_are_slices(tmp_path, device):
    bundle = tensor(graphs.slicing(tmp_path))
    y, rest = replay(bundle, [torch.tensor([1.0, 2.0, 3.0], device=device)])
    assert (y.tolist(), rest.tolist()) == ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])


def test_loops_run_on_the_device(tmp_path, device):
    bundle = tensor(graphs.looping(tmp_path))
    x = torch.tensor([8.0, 16.0, 24.0, 32.0], device=device)
    for n in (0, 1, 3):
        count = torch.tensor([n], dtype=torch.int32, device=device)
        (y,) = replay(bundle, [count, x])
        assert y.tolist() == (x / 2**n).tolist() and count.item() == n


def test_several_threads_at_one_time(tmp_path):
    bundle = tensor(graphs.scaling(tmp_path, 300))
    failures = []

    def work(seed):
        try:
            for k in range(50):
                check_scaling(bundle, *on("cpu", *vectors(300, seed=100 * seed + k)))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


def test_what_does_not_fit_is_an_error(tmp_path):
    file = graphs.scaling(tmp_path)
    bundle, (x, s) = tensor(file), on("cpu", *vectors())
    for inputs, outputs, message in (
        ([x], "", "the bundle has 2 inputs, 1 given"),
        ([x, s, s], "", "the bundle has 2 inputs, 3 given"),
        ([x.double(), s], "", r"input 0 `x`: expected float32\[8,3\], got float64\[8,3\]"),
        ([x, s[:0]], "", r"input 1 `s`: expected float32\[1\], got float32\[0\]"),
        ([x.flatten(), s], "", r"input 0 `x`: expected float32\[8,3\], got float32\[24\]"),
        ([x.to(torch.complex64), s], "", "got a tensor of a type that inkle does not have"),
        ([x.to_sparse(), s], "", "."),
        ([x, s], "float32[8,3]", r"the bundle's outputs are `float32\[8,3\] float32\[8\]`, but the model says"),
        ([x, s], "vec3", "`vec3` is not of the form"),
    ):
        with pytest.raises((RuntimeError, NotImplementedError), match=message):
            replay(bundle, inputs, outputs)
    check_scaling(bundle, x, s)
    other = tensor(graphs.scaling(tmp_path, 9))
    for wrong, message in (
        (bundle.int(), "has to be a contiguous tensor of uint8, it is of int32"),
        (bundle.view(1, -1), "has to be a tensor of one dimension, it has 2"),
        (torch.zeros(0, dtype=torch.uint8), "is empty"),
        (torch.zeros(100, dtype=torch.uint8), "not a graph file"),
        (bundle[:-1].clone(), "graph file: damaged"),
        (torch.cat([other[:200], other[200:201] + 1, other[201:]]), "graph file: damaged"),
    ):
        with pytest.raises(RuntimeError, match=f"inkle::replay: .*{message}"):
            replay(wrong, [x, s])


def test_structs_are_no_tensors(tmp_path):
    @wp.struct
    class Pair:
        a: float
        b: wp.vec3

    pairs, out = wp.zeros(3, dtype=Pair, device="cpu"), wp.zeros(3, dtype=Pair, device="cpu")
    file = graphs.saved(tmp_path, lambda: wp.copy(out, pairs), {"pairs": pairs}, {})
    with pytest.raises(RuntimeError, match="Unsupported dtype: parameter `pairs` has elements of Pair"):
        replay(tensor(file), [torch.zeros(3)])
    with pytest.raises(TypeError, match="Unsupported dtype"):
        inkle.torch.describe(file)


def test_what_a_file_takes_and_gives_is_told(tmp_path):
    file = graphs.scaling(tmp_path)
    described = inkle.torch.describe(file)
    assert described["inputs"] == [
        {"name": "x", "dtype": "float32", "shape": (8, 3)},
        {"name": "s", "dtype": "float32", "shape": (1,)},
    ]
    assert [port["name"] for port in described["outputs"]] == ["y", "n"]
    assert described["signature"] == "float32[8,3] float32[8]" and described["hidden_state"] == []
    assert "aarch64" in described["targets"]
    assert inkle.torch.describe(tensor(file)) == inkle.torch.describe(bytearray(file)) == described
    with pytest.raises(ValueError, match="not a graph file"):
        inkle.torch.describe(b"nothing")


class Model(torch.nn.Module):
    def __init__(self, file):
        super().__init__()
        self.register_buffer("bundle", tensor(file))
        self.signature = inkle.torch.describe(file)["signature"]

    def forward(self, x, s):
        y, n = replay(self.bundle, [x * 2, s], self.signature)
        return y + 1, n


def test_a_model_in_a_process_that_has_only_the_library(tmp_path):
    x, s = on("cpu", *vectors())
    exported = torch.export.export(Model(graphs.scaling(tmp_path)), (x, s))
    torch.export.save(exported, tmp_path / "model.pt2")
    program = """
import sys, torch
torch.ops.load_library(sys.argv[1])
model = torch.export.load("model.pt2").module()
x, s = torch.randn(8, 3), torch.tensor([3.0])
y, n = model(x, s)
torch.testing.assert_close(y, 6 * x + 1)
torch.testing.assert_close(n, (2 * x).norm(dim=1))
try:
    torch.ops.inkle.replay(torch.zeros(9, dtype=torch.uint8), [])
except RuntimeError as error:
    assert "not a graph file" in str(error), error
else:
    raise AssertionError("no error")
"""
    graphs.run_alone(program, inkle.torch.library_path(), folder=tmp_path)


def test_tracing_keeps_other_dimensions_dynamic(tmp_path):
    class Rows(Model):
        def forward(self, rows, s):
            y, _ = replay(self.bundle, [rows[:8], s], self.signature)
            return torch.cat([y, rows])

    model = Rows(graphs.scaling(tmp_path))
    s = torch.tensor([2.0])
    many = torch.export.Dim("many", min=9)
    exported = torch.export.export(model, (torch.randn(20, 3), s), dynamic_shapes=({0: many}, None))
    rows = torch.randn(31, 3)
    torch.testing.assert_close(exported.module()(rows, s), torch.cat([rows[:8] * 2, rows]))


def test_pytorchs_own_checks(tmp_path):
    file = graphs.scaling(tmp_path)
    arguments = (tensor(file), on("cpu", *vectors()), inkle.torch.describe(file)["signature"])
    outcome = torch.library.opcheck(replay.default, arguments)
    assert set(outcome.values()) == {"SUCCESS"}


def test_gradients_through_the_operator_are_an_error(tmp_path):
    class Trained(Model):
        def __init__(self, file):
            super().__init__(file)
            self.before = torch.nn.Linear(3, 3)

        def forward(self, x, s):
            return replay(self.bundle, [self.before(x), s], self.signature)[0]

    model, (x, s) = Trained(graphs.scaling(tmp_path)), on("cpu", *vectors())
    exported = torch.export.export(model, (x, s)).module()
    torch.testing.assert_close(exported(x, s), model.before(x) * s)
    with pytest.raises(RuntimeError, match="gradients do not flow through the operator"):
        model(x, s).sum().backward()
    torch.testing.assert_close(model(x, s).detach(), (model.before(x) * s).detach())


def test_tracing_without_types_is_an_error(tmp_path):
    class Untyped(Model):
        def forward(self, x, s):
            return replay(self.bundle, [x, s])

    with pytest.raises(Exception, match="pass inkle.torch.describe"):
        torch.export.export(Untyped(graphs.scaling(tmp_path)), tuple(on("cpu", *vectors())))


def test_loading_again_does_nothing_and_failures_say_what_to_do(tmp_path, monkeypatch):
    inkle.torch.load()
    monkeypatch.setattr(inkle.torch, "_loaded", False)
    with monkeypatch.context() as patched:
        patched.setattr(torch, "__version__", "2.9.1+cu128")
        with pytest.raises(ImportError, match="needs PyTorch 2.10 or newer, this is 2.9.1"):
            inkle.torch.load()
    monkeypatch.setattr("inkle._operators._FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError) as failure:
        inkle.torch.library_path()
    message = str(failure.value)
    assert str(tmp_path / "libinkle_torch.so") in message and "scripts/operators.sh" in message


def test_the_library_alone_says_what_it_lacks(tmp_path):
    program = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.inkle_torch_load_problem.restype = ctypes.c_char_p
problem = library.inkle_torch_load_problem().decode()
assert "load PyTorch first" in problem, problem
"""
    graphs.run_alone(program, inkle.torch.library_path(), folder=tmp_path)


def test_models_of_leapp_are_told_what_is_wrong(tmp_path):
    damaged = [(archive.hex(), metadata, message) for archive, metadata, message in graphs.DAMAGED_LEAPP]
    (tmp_path / "damaged.json").write_text(json.dumps(damaged))
    program = """
import ctypes, json, sys, torch
torch.ops.load_library(sys.argv[1])
define = ctypes.CDLL(sys.argv[1]).inkle_torch_define_leapp
define.restype = ctypes.c_char_p
assert define() == define() == b""

for archive, metadata, message in json.load(open("damaged.json")):
    bundle = torch.frombuffer(bytearray.fromhex(archive), dtype=torch.uint8)
    for again in range(2):
        try:
            torch.ops.leapp.warp_runner([torch.zeros(2)], metadata, bundle)
        except RuntimeError as error:
            assert str(error).startswith("leapp::warp_runner: ") and message in str(error), error
        else:
            raise AssertionError(f"no error: {message}")
"""
    graphs.run_alone(program, inkle.torch.library_path(), folder=tmp_path)


def test_models_of_leapp_can_be_loaded(tmp_path):
    program = """
import torch, inkle.torch
assert not hasattr(torch.ops.leapp, "warp_runner")
inkle.torch.load_leapp()
inkle.torch.load_leapp()
try:
    torch.ops.leapp.warp_runner([], "{}", torch.zeros((2, 2), dtype=torch.uint8))
except RuntimeError as error:
    assert "`bundle` has to be a tensor of one dimension" in str(error), error
else:
    raise AssertionError("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


def test_work_goes_to_the_current_cuda_stream(tmp_path, cuda_device):
    bundle = tensor(graphs.scaling(tmp_path, 1000))
    x, s = on(cuda_device, *vectors(1000))
    streams = [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    results = []
    for round in range(6):
        for stream in streams:
            with torch.cuda.stream(stream):
                # What the call reads is written on this stream after a while.
                torch.cuda._sleep(1_000_000)
                scaled = x * float(round + 1)
                results.append((round + 1, replay(bundle, [scaled, s])))
    torch.cuda.synchronize()
    right = graphs.scaled(*vectors(1000))
    for factor, (y, n) in results:
        np.testing.assert_allclose(y.cpu(), right[0] * factor, rtol=1e-5)
        np.testing.assert_allclose(n.cpu(), right[1] * factor, rtol=1e-5)


@pytest.mark.parametrize("warm", [True, False])
def test_cuda_graphs_of_pytorch_take_the_operator(tmp_path, cuda_device, warm):
    for make in (graphs.scaling, graphs.stepping, graphs.writing_some):
        file = make(tmp_path)
        described = inkle.torch.describe(file)
        bundle = tensor(file)
        inputs = [torch.zeros(port["shape"], device=cuda_device) for port in described["inputs"]]
        if warm:
            replay(bundle, inputs)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = replay(bundle, inputs)
        for seed in range(3):
            fresh = [
                torch.randn(port["shape"], generator=torch.Generator().manual_seed(seed))
                for port in described["inputs"]
            ]
            [to.copy_(value) for to, value in zip(inputs, fresh)]
            graph.replay()
            # The captured work and other calls do not see each other.
            direct = replay(bundle, [value.to(cuda_device) for value in fresh])
            for captured, wanted, cpu in zip(outputs, direct, replay(bundle, fresh), strict=True):
                torch.testing.assert_close(captured, wanted)
                torch.testing.assert_close(captured.cpu(), cpu)
        del graph, outputs


def test_bundles_may_move_to_the_gpu_with_their_model_cuda(tmp_path, cuda_device):
    model = Model(graphs.scaling(tmp_path)).to(cuda_device)
    x, s = on(cuda_device, *vectors())
    for _ in range(3):
        y, n = model(x, s)
        torch.testing.assert_close(y, 2 * x * s + 1)
        torch.testing.assert_close(n, (2 * x).norm(dim=1))


def test_inputs_of_two_devices_are_an_error_cuda(tmp_path, cuda_device):
    x, s = on("cpu", *vectors())
    with pytest.raises(
        RuntimeError, match="input 1 `s`: all inputs have to be on one device: it is on cpu, the first on cuda:0"
    ):
        replay(tensor(graphs.scaling(tmp_path)), [x.to(cuda_device), s])
