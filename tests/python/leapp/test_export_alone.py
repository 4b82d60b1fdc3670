"""Exported models in programs that do not know inkle's package: a fresh process, a framework, an operator library."""

import json
import subprocess
import sys

import pytest
from _built import kernel_node, pipeline, torch, values

from inkle.leapp._compile import compile_pipeline

ONNX = """
import json, sys
import numpy as np
import onnxruntime
library, model, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(library)
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
found = session.run(None, {name: np.array(value, np.float32) for name, value in given.items()})
print(json.dumps([value.tolist() for value in found]))
assert "inkle" not in sys.modules and "torch" not in sys.modules
"""

TORCH = """
import json, sys
import torch
library, model, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
torch.ops.load_library(library)
module = torch.export.load(model).module()
found = module(*(torch.tensor(value) for value in given.values()))
print(json.dumps([value.tolist() for value in found]))
assert "inkle" not in sys.modules
"""


@pytest.mark.parametrize("export_with", ["onnx", "onnx-torchscript", "pt2"])
def test_a_model_runs_with_the_operator_library_alone(tmp_path, export_with):
    def forward(module, a, b):
        total, product = module.mix(a * 2.0, b)
        return torch.relu(total), product

    made = kernel_node(tmp_path, export_with, forward, ["total", "product"])
    pipe = pipeline(tmp_path, made)
    compile_pipeline(pipe, visualize=False)
    a, b = values(4, seed=11)[0], values(4, seed=12)[0]

    import inkle.onnx
    import inkle.torch

    onnx = export_with != "pt2"
    library = (inkle.onnx if onnx else inkle.torch).library_path()
    model = pipe.directory / ("kernels.onnx" if onnx else "kernels.pt2")
    given = json.dumps({"a": a.tolist(), "b": b.tolist()})
    # Isolated: no PYTHONPATH, so that inkle is not found where it is not installed.
    command = [sys.executable, "-I", "-c", ONNX if onnx else TORCH, library, str(model), given]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    total, product = json.loads(done.stdout.splitlines()[-1])
    torch.testing.assert_close(torch.tensor(total), torch.relu(a * 2 + b))
    torch.testing.assert_close(torch.tensor(product), a * 2 * b)
