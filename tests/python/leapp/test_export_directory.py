"""What is in the directory of a pipeline: the description, the initial values, the drawing, models from elsewhere."""

import hashlib

import pytest
from _built import graph_module, kernel_node, node, pipeline, policy, smoothing, torch, values
from safetensors.torch import load_file

from inkle.leapp import (
    GraphConfigs,
    InferenceManager,
    InputKindEnum,
    OutputKindEnum,
    TemporalAxis,
    TensorSemantics,
)
from inkle.leapp._compile import compile_pipeline

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")


class Add(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def chain(export_with="pt2", **kinds):
    """Two nodes: the second takes what the first gives, the first what the second gave in the step before."""
    command, last, sums, doubles = values(3, seed=7), torch.zeros(3), [], []
    lasts = []
    for value in command:
        lasts.append(last)
        sums.append(value + last)
        last = sums[-1] + sums[-1]
        doubles.append(last)
    first = node(
        "first",
        Add(),
        {"command": command, "last": lasts},
        ["sum"],
        export_with,
        0,
        sources={"last": ("second", "double")},
        feedback=("last",),
        **kinds,
    )
    other = node(
        "second",
        Add(),
        {"sum": sums, "again": sums},
        ["double"],
        export_with,
        1,
        sources={"sum": ("first", "sum"), "again": ("first", "sum")},
    )
    return first, other


def description(pipe):
    return yaml.safe_load((pipe.directory / f"{pipe.name}.yaml").read_text())


def test_what_flows_where(tmp_path):
    pipe = pipeline(tmp_path, *chain(), smoothing("pt2", index=2))
    compile_pipeline(pipe, visualize=False)
    flow = description(pipe)["pipeline"]
    assert flow["data_flow"] == {"first/sum": ["second/sum", "second/again"]}
    assert flow["feedback_flow"] == {"second/double": ["first/last"], "smooth/mean": ["smooth/mean"]}
    assert flow["inputs"] == {"first": ["command"], "smooth": ["x"]}
    assert flow["outputs"] == {"smooth": ["y"]}


def test_an_output_that_is_a_target_leaves_the_pipeline_though_the_next_step_takes_it(tmp_path):
    first, second = chain()
    second.outputs[0].semantics = TensorSemantics("double", torch.zeros(3), OutputKindEnum.JOINT_TORQUES)
    pipe = pipeline(tmp_path, first, second)
    compile_pipeline(pipe, visualize=False)
    assert description(pipe)["pipeline"]["outputs"] == {"second": ["double"]}
    out = InferenceManager(pipe.directory / "pipe.yaml")({"first/command": torch.ones(3)})
    torch.testing.assert_close(out["second/double"], torch.full((3,), 2.0))


def test_initial_values_are_those_of_the_first_step(tmp_path):
    first, second = chain()
    first.inputs[1].initial = torch.tensor([5.0, 6.0, 7.0])
    pipe = pipeline(tmp_path, first, second)
    compile_pipeline(pipe, visualize=False)
    stored = load_file(pipe.directory / "pipe_initial_values.safetensors")
    assert list(stored) == ["first/last"]
    torch.testing.assert_close(stored["first/last"], torch.tensor([5.0, 6.0, 7.0]))
    assert description(pipe)["pipeline"]["initial_values"] == "pipe_initial_values.safetensors"


def test_without_feedback_there_are_no_initial_values(tmp_path):
    pipe = pipeline(tmp_path, policy("pt2"))
    pipe.directory.mkdir()
    (pipe.directory / "pipe_initial_values.safetensors").write_bytes(b"of an earlier export")
    compile_pipeline(pipe, visualize=False)
    assert "initial_values" not in description(pipe)["pipeline"]
    assert not (pipe.directory / "pipe_initial_values.safetensors").exists()


def test_models_have_their_digests(tmp_path):
    pipe = pipeline(tmp_path, policy("onnx"))
    compile_pipeline(pipe, visualize=False)
    parameters = description(pipe)["models"]["policy"]["parameters"]
    data = (pipe.directory / parameters["model_path"]).read_bytes()
    assert parameters["sha256sum"] == hashlib.sha256(data).hexdigest()
    assert parameters["md5sum"] == hashlib.md5(data).hexdigest()
    assert (parameters["backend"], parameters["device"]) == ("onnx", "cpu")


def test_what_was_said_about_tensors_is_there(tmp_path):
    x = values(1, 3)
    names = [TemporalAxis(20.0), ["x", "y", "z"]]
    said = {
        "x": TensorSemantics("x", x[0], InputKindEnum.VECTOR3D, names, {"unit": "m", "range": (0.0, 1.0)}),
        "y": TensorSemantics("y", x[0], "my/kind"),
    }

    class Twice(torch.nn.Module):
        def forward(self, x):
            return x * 2

    pipe = pipeline(tmp_path, node("twice", Twice(), {"x": x}, ["y"], "jit", semantics=said))
    compile_pipeline(pipe, visualize=False, graph_configs=GraphConfigs(50.0, {"robot": "h1"}))
    text = (pipe.directory / "pipe.yaml").read_text()
    assert "element_names: [__temporal_axis__, [x, y, z]]" in text and "shape: [1, 3]" in text
    models = description(pipe)["models"]["twice"]
    expected = {"kind": "state/vector3d", "temporal_period_ms": 20.0, "unit": "m", "range": [0.0, 1.0]}
    assert expected.items() <= models["inputs"][0].items()
    assert models["outputs"][0]["kind"] == "my/kind"
    assert description(pipe)["pipeline"]["configs"] == {"frequency": 50.0, "robot": "h1"}


@pytest.mark.parametrize("export_with", ["onnx", "onnx-torchscript"])
def test_inputs_and_outputs_of_one_name_are_told_apart_where_a_format_has_one_list(tmp_path, export_with):
    first, second = chain("pt2")
    first.outputs[0].name = second.inputs[0].name = "command"
    second.inputs[0].source = second.inputs[1].source = ("first", "command")
    first.export_with = export_with
    pipe = pipeline(tmp_path, first, second, smoothing(export_with, index=2))
    compile_pipeline(pipe, visualize=False)
    flow = description(pipe)["pipeline"]
    assert flow["data_flow"] == {"first/command_out": ["second/command", "second/again"]}
    assert flow["feedback_flow"]["smooth/mean_out"] == ["smooth/mean_in"]
    assert flow["inputs"] == {"first": ["command_in"], "smooth": ["x"]}
    assert first.inputs[0].name == "command", "the traced pipeline is left as it is"


def test_a_name_that_would_be_taken_is_an_error(tmp_path):
    made = node("n", Add(), {"x": values(2), "x_in": values(2)}, ["x"], "onnx")
    with pytest.raises(ValueError, match="node 'n': input and output are both named 'x', and 'x_in'.*is taken"):
        compile_pipeline(pipeline(tmp_path, made))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda port: setattr(port, "source", ("first", "absent")),
            "second/sum comes from first/absent, which no node",
        ),
        (lambda port: setattr(port, "shape", (4,)), r"Shape mismatch .*first/sum -> second/sum: \(3,\) becomes \(4,\)"),
        (lambda port: setattr(port, "dtype", torch.int32), "Dtype mismatch .*first/sum -> second/sum: torch.float32"),
    ],
)
def test_connections_that_do_not_fit_are_errors(tmp_path, change, message):
    first, second = chain()
    change(second.inputs[0])
    with pytest.raises(ValueError, match=message):
        compile_pipeline(pipeline(tmp_path, first, second))


def test_a_node_that_cannot_be_exported_is_named_with_its_place(tmp_path):
    class Unique(torch.nn.Module):
        def forward(self, x):
            return torch.unique(x).sum()

    made = node("odd", Unique(), {"x": values(3)}, ["y"], "onnx-torchscript", backend_params={"opset_version": 9})
    with pytest.raises(RuntimeError, match=r"node 'odd' \(program.py:1\) cannot be exported .*'onnx-torchscript'"):
        compile_pipeline(pipeline(tmp_path, made))


def test_a_dry_run_describes_without_models(tmp_path):
    pipe = pipeline(tmp_path, *chain(), dry_run=True)
    assert compile_pipeline(pipe) is True
    assert sorted(file.suffix for file in pipe.directory.iterdir()) == [".png", ".svg", ".yaml"]
    assert description(pipe)["models"]["first"]["parameters"]["model_path"] is None
    with pytest.raises(ValueError, match="node 'first' has no model"):
        InferenceManager(pipe.directory / "pipe.yaml")


def own(tmp_path, path, copy=True):
    made = policy(None, backend_params={"model_path": str(path), "copy_original_model": copy})
    made.module = None
    return pipeline(tmp_path, made)


@pytest.mark.parametrize("export_with", ["onnx", "pt2", "jit"])
def test_models_from_elsewhere_are_copied_checked_and_run(tmp_path, export_with):
    source = pipeline(tmp_path / "source", policy(export_with))
    compile_pipeline(source, visualize=False)
    model = next(source.directory.glob("policy.*"))
    pipe = own(tmp_path, model)
    assert compile_pipeline(pipe, visualize=False) == {"policy": True}
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    observation = values(8, seed=1)[0]
    out = manager({"policy/observation": observation, "policy/unused": torch.zeros(2)})
    torch.testing.assert_close(out["policy/passed"], observation)


def test_a_model_from_elsewhere_may_stay_where_it_is(tmp_path):
    source = pipeline(tmp_path / "source", policy("pt2"))
    compile_pipeline(source, visualize=False)
    pipe = own(tmp_path, source.directory / "policy.pt2", copy=False)
    compile_pipeline(pipe, visualize=False)
    assert not (pipe.directory / "policy.pt2").exists()
    assert description(pipe)["models"]["policy"]["parameters"]["model_path"] == "../source/pipe/policy.pt2"
    InferenceManager(pipe.directory / "pipe.yaml")


def test_models_from_elsewhere_that_are_not_there_or_unknown(tmp_path):
    with pytest.raises(FileNotFoundError, match="node 'policy': there is no model at .*absent.onnx"):
        compile_pipeline(own(tmp_path, tmp_path / "absent.onnx"))
    (tmp_path / "model.xyz").write_bytes(b"")
    with pytest.raises(
        (ValueError, RuntimeError), match="what runs model.xyz is not known; names of models end in .pt"
    ):
        compile_pipeline(own(tmp_path, tmp_path / "model.xyz"))


def test_the_drawing_shows_nodes_ports_and_kernels(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    first, second = chain()
    pipe = pipeline(tmp_path, first, second, smoothing("onnx", index=2), name="robot & <arm>")
    compile_pipeline(pipe, graph_configs=GraphConfigs(50.0))
    text = (pipe.directory / "robot & <arm>.svg").read_text()
    for word in (
        "robot &amp; &lt;arm&gt;",
        "first",
        "second",
        "smooth",
        "command",
        "float32[3]",
        "double to last",
        "50 Hz",
    ):
        assert word in text, word
    assert "state" in text and "onnx" in text and "pt2" in text
    # Every shape lies in the picture.
    import xml.etree.ElementTree as ET

    root = ET.fromstring(text)
    width, height = float(root.get("width")), float(root.get("height"))
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert 0 <= float(box.get("x")) and float(box.get("x")) + float(box.get("width")) <= width + 0.1
        assert 0 <= float(box.get("y")) and float(box.get("y")) + float(box.get("height")) <= height + 0.1
    with Image.open(pipe.directory / "robot & <arm>.png") as image:
        assert image.size == (2 * width, 2 * height)
        colors = image.convert("RGB").getcolors(1 << 24)
        assert len(colors) > 50


def test_the_drawing_names_the_kernels_of_a_node(tmp_path):
    made = kernel_node(tmp_path, "pt2", lambda module, a, b: module.mix(a, b)[0], ["y"])
    pipe = pipeline(tmp_path, made)
    compile_pipeline(pipe, validate=False)
    text = (pipe.directory / "pipe.svg").read_text()
    assert ">mix<" in text and ">kernels<" in text and "1 kernel" in text


def test_boxes_do_not_overlap_and_lines_go_around_them():
    from inkle.leapp._drawing._boxes import Box, PortBox
    from inkle.leapp._drawing._layout import picture

    def ports(*names):
        return [PortBox(name, "float32[8]", "", False) for name in names]

    boxes = [
        Box("a", "pt2", ports("x"), ports("y", "z"), []),
        Box("b", "onnx", ports("y"), ports("w"), [["k1", "a_kernel_with_a_long_name", "k2"]]),
        Box("c", "onnx", ports("w"), ports("v"), []),
        Box("d", "jit", ports("v", "z"), ports("u"), []),
    ]
    data = [(("a", "y"), ("b", "y")), (("b", "w"), ("c", "w")), (("c", "v"), ("d", "v")), (("a", "z"), ("d", "z"))]
    drawn = picture("p", "", boxes, data, [(("d", "u"), ("a", "x"))])
    assert [box.x for box in boxes] == sorted(box.x for box in boxes)
    for one in boxes:
        for other in boxes:
            apart = one.x + one.width < other.x or other.x + other.width < one.x
            assert one is other or apart or one.y + one.height < other.y or other.y + other.height < one.y
    lines = [shape for shape in drawn.shapes if type(shape).__name__ == "Line"]
    ends = [point for line in lines for piece in line.pieces for point in piece[-1:]]
    for x, y in ends:
        assert not any(b.x < x < b.x + b.width and b.y < y < b.y + b.height for b in boxes), (x, y)


def test_the_graph_module_of_a_node_is_left_as_it_is(tmp_path):
    made = policy("onnx")
    before = str(made.module.graph)
    compile_pipeline(pipeline(tmp_path, made), visualize=False)
    assert str(made.module.graph) == before == str(graph_module(made.module).graph)


def test_what_is_done_is_told_if_asked_for(tmp_path, capsys):
    pipe = pipeline(tmp_path, policy("pt2"))
    compile_pipeline(pipe, visualize=False)
    assert capsys.readouterr().err == ""
    compile_pipeline(pipe, visualize=False, verbose=True)
    assert "inkle.leapp: exporting node 'policy' with 'pt2'" in capsys.readouterr().err
    compile_pipeline(pipe, visualize=False)
    assert capsys.readouterr().err == ""
