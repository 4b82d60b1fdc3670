"""Helpers shared by the tests: running kernels, kernels made from source text, and known differences from Warp."""

import contextlib
import importlib.util
import itertools
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from _wp import MODULE, ON_WARP, wp

_serial = itertools.count()

HEADER = "from _wp import wp\nfrom typing import Any\nimport numpy as np\nimport math\n\n"

INT_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")


def differs_from_warp(reason):
    """Marks a test of behaviour that inkle promises and Warp lacks: skipped, with the reason, on Warp only."""
    return pytest.mark.skipif(ON_WARP, reason=f"Warp differs: {reason}")


def run(kernel, out_dtype, out_shape, *inputs, dim=1, device="cpu"):
    """Launches `kernel` with `inputs` and one zeroed output array, and returns that array as numpy."""
    out = wp.zeros(out_shape, dtype=out_dtype, device=device)
    wp.launch(kernel, dim=dim, inputs=list(inputs), outputs=[out], device=device)
    return out.numpy()


def load(tmp_path, text):
    """Imports a Python module made of HEADER and `text`, from a new file under `tmp_path`."""
    name = f"source_{next(_serial)}"
    path = tmp_path / f"{name}.py"
    path.write_text(HEADER + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def kernel_from(tmp_path, body, params="n: int, f: float, out: wp.array(dtype=int)", before=""):
    """A kernel named `probe` with the given body and parameter list, after the source text `before`."""
    text = textwrap.dedent(before) + f"\n\n@wp.kernel(module='unique')\ndef probe({params}):\n"
    return load(tmp_path, text + textwrap.indent(textwrap.dedent(body), "    ")).probe


def line_of(path, marker):
    """The 1-based number of the only line of the file that contains `marker`."""
    hits = [i for i, line in enumerate(open(path).read().splitlines(), 1) if marker in line]
    assert len(hits) == 1, (marker, hits)
    return hits[0]


def run_child(path, *args, env=None, check=True):
    """Runs a Python file in a fresh process that imports the same module; returns the completed process."""
    full = dict(os.environ, INKLE_MODULE=MODULE, **(env or {}))
    done = subprocess.run([sys.executable, str(path), *args], env=full, capture_output=True, text=True, timeout=120)
    assert not check or done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def child_path():
    """The environment that lets a child import `_wp` from this folder."""
    return {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])}


def to_bfloat16(x):
    """float32 values rounded to the nearest bfloat16 (ties to even), as float32."""
    bits = np.asarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


def truncated_div(a, b):
    """Integer division that rounds towards zero, as C and Warp's `/` do, without overflow for any operands."""
    pairs = [(int(x), int(y)) for x, y in zip(a, b)]
    return np.array([abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs], dtype=a.dtype)


@contextlib.contextmanager
def config(**values):
    """Sets options of `wp.config` for the length of a block."""
    old = {name: getattr(wp.config, name) for name in values}
    try:
        for name, value in values.items():
            setattr(wp.config, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(wp.config, name, value)
