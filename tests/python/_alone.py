"""Every launch of a graph again, in a process that has only the graph's file and the replay library.

The fixture `alone` watches the graphs that a test launches. Of a graph that was captured, a file is saved as it is before
the launch, with the arrays that the test's function can see as outputs; of one that was loaded, the file is known, and the
values of its parameters are taken. When the test is done, a fresh process without inkle launches the files and has to
find what the launches left.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from _wp import wp

#: What a file of tests gets that is watched.
MARKS = [
    pytest.mark.usefixtures("alone"),
    # The library is built for the first of them, with optimisation across crates.
    pytest.mark.timeout(2400),
]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/programs/replay_alone.py"
#: Launches of one test that are done again.
MOST = 4


class Alone:
    """What a test launches."""

    def __init__(self, folder):
        self.folder = folder
        #: Per launch what the process is asked to do, and the arrays' values after it.
        self.runs, self.expected = [], []
        #: The files of the graphs that were loaded, and those that were launched: later launches start from what these left.
        self._files, self._launched = {}, set()
        self._launch, self._load, self._load_bytes = wp.capture_launch, wp.capture_load, wp.capture_load_from_bytes

    def load(self, path, *args, **kwargs):
        graph = self._load(path, *args, **kwargs)
        is_path = isinstance(path, (str, os.PathLike))
        file = next(p for p in (Path(path), Path(f"{path}.wrp")) if p.exists()).read_bytes() if is_path else bytes(path)
        self._files[id(graph)] = graph, file
        return graph

    def load_bytes(self, data, *args, **kwargs):
        graph = self._load_bytes(data, *args, **kwargs)
        self._files[id(graph)] = graph, bytes(data)
        return graph

    def launch(self, graph, *args, **kwargs):
        is_run = isinstance(graph, wp.Graph) and not graph.device.is_capturing
        if not is_run or len(self.runs) >= MOST:
            return self._launch(graph, *args, **kwargs)
        seen = self._loaded(graph) if graph.is_loaded else self._captured(graph, _locals(sys._getframe(1)))
        result = self._launch(graph, *args, **kwargs)
        if seen is not None:
            run, values = seen
            self.runs.append(run)
            # An array on the CPU shows its memory, which later launches change.
            self.expected.append({name: value().copy() for name, value in values.items()})
        return result

    def _captured(self, graph, seen):
        arrays = {name: value for name, value in seen.items() if _is_plain(value, graph.device)}
        path = self.folder / f"{len(self.runs)}.inkle"
        wp.capture_save(graph, path, outputs=arrays)
        return _run(path, graph.device, {}, arrays), {name: array.numpy for name, array in arrays.items()}

    def _loaded(self, graph):
        if id(graph) not in self._files or id(graph) in self._launched:
            return None
        self._launched.add(id(graph))
        arrays = {
            name: wp.empty(param["shape"], dtype=param["dtype"], device=graph.device)
            for name, param in graph.params.items()
        }

        def value(name):
            graph.get_param(name, arrays[name])
            return arrays[name].numpy()

        given = {name: value(name) for name, param in graph.params.items() if param["kind"] == "input"}
        path = self.folder / f"{len(self.runs)}.inkle"
        path.write_bytes(self._files[id(graph)][1])
        return _run(path, graph.device, given, arrays), {name: lambda name=name: value(name) for name in arrays}

    def check(self, library):
        """Does it all again and compares."""
        if not self.runs:
            return
        command = [sys.executable, "-I", "-S", PROGRAM, library]
        done = subprocess.run(
            [str(part) for part in command],
            input=json.dumps(self.runs),
            cwd=self.folder,
            env={},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"the process with only the graph's file: {done.stderr}"
        for found, expected in zip(json.loads(done.stdout), self.expected, strict=True):
            for name, value in expected.items():
                alone = np.frombuffer(bytes.fromhex(found[name]), dtype=value.dtype).reshape(value.shape)
                message = f"`{name}` in a process with only the graph's file"
                # Code that was compiled for this machine may differ from the file's in the last bits.
                if value.dtype.kind == "f":
                    np.testing.assert_allclose(alone, value, rtol=1e-5, atol=1e-6, err_msg=message)
                else:
                    np.testing.assert_array_equal(alone, value, err_msg=message)


def _locals(frame):
    """The variables of a function that is running."""
    shown = frame.f_locals
    found = dict(shown)
    # Python 3.12 and older keep what they showed as long as the function runs.
    if type(shown) is dict and shown is not frame.f_globals:
        shown.clear()
    return found


def _run(path, device, given, arrays):
    given = {name: np.ascontiguousarray(value).tobytes().hex() for name, value in given.items()}
    return {"file": path.name, "device": str(device), "set": given, "get": list(arrays)}


def _is_plain(value, device):
    return type(value) is wp.array and value.device == device and value.size and value.grad is None


def library(kits):
    """The replay library, INKLE_REPLAY_LIBRARY if that is set; `None` where it can neither be built nor was brought."""
    if given := os.environ.get("INKLE_REPLAY_LIBRARY"):
        return Path(given)
    if shutil.which("cargo"):
        return kits("host") / "lib/libinkle_replay.so"
    brought = ROOT / "build/gpu/programs/libinkle_replay.so"
    return brought if brought.exists() else None
