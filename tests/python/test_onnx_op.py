"""The ONNX Runtime operator ai.inkle::Replay."""

import threading

import _operators as graphs
import numpy as np
import pytest
from _wp import ON_WARP

onnx = pytest.importorskip("onnx", reason="onnx is not installed (scripts/setup.sh test installs it)")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (scripts/setup.sh test installs it)")
if ON_WARP:
    pytest.skip("the operators are inkle's own", allow_module_level=True)

import inkle.onnx  # noqa: E402

KINDS = {
    np.dtype(name): getattr(onnx.TensorProto, name.upper()) for name in ("bool", "float16", "int32", "int64", "uint8")
}
KINDS |= {np.dtype("float32"): onnx.TensorProto.FLOAT, np.dtype("float64"): onnx.TensorProto.DOUBLE}


def value(port, shape=None):
    kind = KINDS[np.dtype(port["dtype"])]
    return onnx.helper.make_tensor_value_info(port["name"], kind, port["shape"] if shape is None else shape)


def model(file, shapes=None, constant=True, outputs=None, described=None, bundle=None):
    """A model of the operator and of an addition behind its first output."""
    described = described or inkle.onnx.describe(file)
    ins, outs = described["inputs"], described["outputs"]
    names = [port["name"] for port in ins], [port["name"] for port in outs]
    node = onnx.helper.make_node(
        inkle.onnx.OP_TYPE, ["bundle", *names[0]], names[1], domain=inkle.onnx.DOMAIN, name="segment"
    )
    if outputs is not None:
        node.attribute.append(onnx.helper.make_attribute("outputs", outputs))
    twice = {**outs[0], "name": "twice"}
    nodes = [node]
    if outs[0]["dtype"] == "float32":
        nodes.append(onnx.helper.make_node("Add", [names[1][0]] * 2, ["twice"]))
        outs = [*outs, twice]
    blob = bundle or onnx.helper.make_tensor("bundle", onnx.TensorProto.UINT8, [len(file)], file, raw=True)
    inputs = [value(port, (shapes or {}).get(port["name"])) for port in ins]
    if not constant:
        inputs.append(onnx.helper.make_tensor_value_info("bundle", onnx.TensorProto.UINT8, [len(file)]))
    graph = onnx.helper.make_graph(nodes, "graph", inputs, [value(port) for port in outs], [blob] if constant else [])
    opsets = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid(inkle.onnx.DOMAIN, inkle.onnx.VERSION)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)


def session(made, device="cpu"):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    inkle.onnx.register(options)
    providers = ["CPUExecutionProvider"]
    if device != "cpu":
        if "CUDAExecutionProvider" not in ort.get_available_providers():
            pytest.skip("this onnxruntime has no CUDA execution provider")
        providers.insert(0, "CUDAExecutionProvider")
    return ort.InferenceSession(
        made if isinstance(made, str) else made.SerializeToString(), options, providers=providers
    )


def vectors(count=8, seed=0):
    x = np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)
    return {"x": x, "s": np.array([2.5], dtype=np.float32)}


def check_scaling(running, inputs):
    y, n, twice = running.run(None, inputs)
    right = graphs.scaled(inputs["x"], inputs["s"])
    np.testing.assert_allclose(y, right[0], rtol=1e-6)
    np.testing.assert_allclose(n, right[1], rtol=1e-6)
    np.testing.assert_allclose(twice, 2 * right[0], rtol=1e-6)


def test_runs_with_other_operators(tmp_path, device):
    file = graphs.scaling(tmp_path)
    for outputs in (None, inkle.onnx.describe(file)["signature"]):
        running = session(model(file, outputs=outputs), device)
        for seed in range(8):
            check_scaling(running, vectors(seed=seed))


def test_elements_of_many_kinds(tmp_path, device):
    file, inputs, right = graphs.kinds(tmp_path)
    running = session(model(file), device)
    found = running.run(None, dict(zip([port.name for port in running.get_inputs()], inputs)))
    for output, wanted in zip(found, right):
        assert output.dtype == wanted.dtype and output.shape == wanted.shape
        np.testing.assert_allclose(output, wanted, rtol=1e-6)


def test_every_run_starts_from_the_file(tmp_path, device):
    running = session(model(graphs.ticking(tmp_path)), device)
    for _ in range(4):
        assert running.run(["seen"], {})[0].tolist() == [41]
    running = session(model(graphs.writing_some(tmp_path)), device)
    for k in range(4):
        y = running.run(["y"], {"x": np.arange(3, dtype=np.float32) + k})[0]
        assert y.tolist() == [k, 9.0, k + 1, 9.0, k + 2, 9.0]


def test_an_input_that_is_changed_in_place_is_copied(tmp_path, device):
    running = session(model(graphs.stepping(tmp_path)), device)
    inputs = {"velocity": np.ones(5, dtype=np.float32), "position": np.arange(5, dtype=np.float32)}
    for _ in range(4):
        np.testing.assert_array_equal(running.run(["moved"], inputs)[0], np.arange(5) + 0.5)
        np.testing.assert_array_equal(inputs["position"], np.arange(5))


def test_loops_run_on_the_device(tmp_path, device):
    running = session(model(graphs.looping(tmp_path)), device)
    x = np.array([8, 16, 24, 32], dtype=np.float32)
    for n in (0, 1, 3):
        assert running.run(["y"], {"n": np.array([n], dtype=np.int32), "x": x})[0].tolist() == (x / 2**n).tolist()


def test_outputs_that_nobody_asks_for(tmp_path, device):
    running = session(model(graphs.scaling(tmp_path)), device)
    inputs = vectors()
    np.testing.assert_allclose(running.run(["n"], inputs)[0], graphs.scaled(**inputs)[1], rtol=1e-6)


def test_one_session_in_several_threads(tmp_path):
    running, failures = session(model(graphs.scaling(tmp_path, 300))), []

    def work(seed):
        try:
            for k in range(50):
                check_scaling(running, vectors(300, seed=100 * seed + k))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


def test_a_bundle_in_a_file_of_its_own(tmp_path):
    made = model(graphs.scaling(tmp_path, 50))
    path = tmp_path / "model.onnx"
    onnx.save_model(made, path, save_as_external_data=True, location="weights.bin", size_threshold=100)
    assert (tmp_path / "weights.bin").stat().st_size > 1000
    check_scaling(session(str(path)), vectors(50))


def refused(made, message):
    with pytest.raises(Exception, match=message):
        session(made)


def test_what_does_not_fit_is_an_error_of_the_session(tmp_path):
    file = graphs.scaling(tmp_path)
    described = inkle.onnx.describe(file)
    refused(
        model(file, constant=False), "node `segment`: its first input, the bundle, has to be a constant of the model"
    )
    refused(
        model(file, outputs="float32[8,3]"), "the bundle's outputs are `float32.8,3. float32.8.`, but the model says"
    )
    refused(model(file[:-1], described=described), "node `segment`: graph file: damaged")
    refused(model(b"nothing", described=described), "not a graph file")
    square = onnx.helper.make_tensor("bundle", onnx.TensorProto.UINT8, [2, 2], b"abcd", raw=True)
    refused(model(file, bundle=square), "has to be a tensor of uint8 with one dimension")


def test_what_does_not_fit_is_an_error_of_the_run(tmp_path):
    file = graphs.scaling(tmp_path)
    running = session(model(file, shapes={"x": ["rows", 3]}))
    with pytest.raises(Exception, match=r"node `segment`: input 0 `x`: expected float32\[8,3\], got float32\[5,3\]"):
        running.run(None, vectors(5))
    check_scaling(running, vectors())
    described = inkle.onnx.describe(file)
    described["inputs"][0]["dtype"] = "float64"
    running = session(model(file, described=described))
    with pytest.raises(Exception, match=r"input 0 `x`: expected float32\[8,3\], got float64\[8,3\]"):
        running.run(None, {**vectors(), "x": np.zeros((8, 3))})
    described = inkle.onnx.describe(file)
    described["inputs"].pop()
    running = session(model(file, described=described))
    with pytest.raises(Exception, match="the bundle has 2 inputs, the node 1"):
        running.run(None, {"x": vectors()["x"]})


def test_a_model_in_a_process_that_has_only_the_library(tmp_path):
    onnx.save(model(graphs.scaling(tmp_path)), tmp_path / "model.onnx")
    program = """
import sys
import numpy as np
import onnxruntime
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(sys.argv[1])
session = onnxruntime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
x, s = np.random.normal(size=(8, 3)).astype(np.float32), np.array([3], dtype=np.float32)
y, n, twice = session.run(None, {"x": x, "s": s})
np.testing.assert_allclose(twice, 6 * x, rtol=1e-6)
np.testing.assert_allclose(n, np.linalg.norm(x, axis=1), rtol=1e-6)
"""
    graphs.run_alone(program, inkle.onnx.library_path(), folder=tmp_path)


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("inkle._operators._FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError) as failure:
        inkle.onnx.register(ort.SessionOptions())
    message = str(failure.value)
    assert str(tmp_path / "libinkle_onnx.so") in message and "scripts/operators.sh" in message


def test_tensors_on_the_gpu_are_used_in_place_cuda(tmp_path, cuda_device):
    running = session(model(graphs.scaling(tmp_path)), cuda_device)
    for seed in range(6):
        inputs = vectors(seed=seed)
        binding = running.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array, "cuda", 0))
        for name in ("y", "n"):
            binding.bind_output(name, "cuda")
        running.run_with_iobinding(binding)
        y, n = (output.numpy() for output in binding.get_outputs())
        right = graphs.scaled(**inputs)
        np.testing.assert_allclose(y, right[0], rtol=1e-6)
        np.testing.assert_allclose(n, right[1], rtol=1e-6)


def leapp_model(archive, metadata):
    """A model as LEAPP writes them: the archive is the last input."""
    helper = onnx.helper
    attributes = {} if metadata is None else {"runtime_metadata": metadata}
    node = helper.make_node("WrpRunner", ["x", "bundle"], ["y"], domain="com.nvidia.warp", name="leapp", **attributes)
    blob = helper.make_tensor("bundle", onnx.TensorProto.UINT8, [len(archive)], archive, raw=True)
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy")
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.nvidia.warp", 1)]
    return helper.make_model(helper.make_graph([node], "graph", [x], [y], [blob]), opset_imports=opsets, ir_version=10)


def test_models_of_leapp_are_told_what_is_wrong():
    for archive, metadata, message in (
        *graphs.DAMAGED_LEAPP,
        (graphs.LEAPP_ARCHIVE, None, "node `leapp`: it has no attribute runtime_metadata"),
        (graphs.LEAPP_ARCHIVE, graphs.LEAPP_METADATA, "graph file: damaged|version"),
    ):
        refused(leapp_model(archive, metadata), message)
