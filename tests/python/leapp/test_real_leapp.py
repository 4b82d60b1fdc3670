"""Models that LEAPP itself exported, with Warp inside: LEAPP on inkle's libraries, and its models without LEAPP and Warp.

LEAPP exports kernels on a GPU only, with Warp 1.17 or newer and CUPTI; where they are not installed, this is skipped.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import inkle.onnx
import inkle.torch
from inkle import leapp

NEEDED = ("leapp", "warp", "cupti")

ONNX = """
import sys
import numpy as np
import onnxruntime
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(sys.argv[1])
kept = np.load("kept.npz")
session = onnxruntime.InferenceSession("real/observe.onnx", options, providers=["CPUExecutionProvider"])
for k in range(3):
    (obs,) = session.run(None, {port.name: kept[f"{port.name}_{k}"] for port in session.get_inputs()})
    np.testing.assert_allclose(obs, kept[f"obs_{k}"], rtol=1e-5, atol=1e-6)
"""

TORCH = """
import ctypes, sys
import numpy as np
import torch
torch.ops.load_library(sys.argv[1])
define = ctypes.CDLL(sys.argv[1]).inkle_torch_define_leapp
define.restype = ctypes.c_char_p
assert define() == b"", define()
kept = np.load("kept.npz")
model = torch.export.load("real/observe.pt2").module()
for k in range(3):
    given = [torch.from_numpy(kept[f"{name}_{k}"]).cuda() for name in ("pos", "vel", "dirs", "quats")]
    obs = model(*given)
    obs = obs[0] if isinstance(obs, tuple) else obs
    np.testing.assert_allclose(obs.cpu().numpy(), kept[f"obs_{k}"], rtol=1e-5, atol=1e-6)
"""


@pytest.mark.parametrize("export_with", ["onnx", "pt2"])
def test_models_of_leapp_run_here_cuda(tmp_path, cuda_device, export_with):
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        pytest.skip(f"{', '.join(missing)} not installed: LEAPP's own exports need LEAPP, Warp and CUPTI")
    onnx, pt2 = inkle.onnx.library_path(), inkle.torch.library_path()
    runtimes = {"LEAPP_WARP_ONNX_CUSTOM_OP_LIBRARY": onnx, "LEAPP_WARP_PT2_CUSTOM_OP_LIBRARY": pt2}
    program = Path(__file__).with_name("_with_leapp.py")
    done = subprocess.run(
        [sys.executable, program, tmp_path, export_with],
        env={**os.environ, **runtimes},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    alone, library = (ONNX, onnx) if export_with == "onnx" else (TORCH, pt2)
    # Isolated: neither LEAPP nor Warp nor inkle is found.
    done = subprocess.run([sys.executable, "-I", "-c", alone, library], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

    device = cuda_device if export_with == "pt2" else None
    manager = leapp.InferenceManager(tmp_path / "real/real.yaml", device=device)
    kept = np.load(tmp_path / "kept.npz")
    for k in range(3):
        given = {f"observe/{name}": torch.from_numpy(kept[f"{name}_{k}"]) for name in ("pos", "vel", "dirs", "quats")}
        obs = manager.run_policy(given)["observe/obs"]
        np.testing.assert_allclose(obs.cpu().numpy(), kept[f"obs_{k}"], rtol=1e-5, atol=1e-6)
