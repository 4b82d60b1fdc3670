"""The kernel cache on disk: reused, repaired when damaged, shared by processes, compiled per kernel."""

import hashlib
import os
import pathlib
import subprocess
import sys

import pytest
from _support import HEADER, differs_from_warp
from _wp import MODULE

PROGRAM = """
import os
wp.config.kernel_cache_dir = os.environ["TEST_CACHE"]

@wp.kernel
def cube(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i] * x[i]

@wp.kernel
def count(n: int, out: wp.array(dtype=int)):
    s = int(0)
    for i in range(n):
        s += i
    out[0] = s
EXTRA
x = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu")
y = wp.zeros(3, dtype=float, device="cpu")
out = wp.zeros(1, dtype=int, device="cpu")
wp.launch(cube, dim=3, inputs=[x], outputs=[y], device="cpu")
wp.launch(count, dim=1, inputs=[10, out], device="cpu")
assert y.numpy().tolist() == [1.0, 8.0, 27.0], y.numpy()
assert out.numpy()[0] == 45
print("GOOD")
"""

ADDED = """
@wp.kernel
def added(out: wp.array(dtype=int)):
    out[0] = 7

seven = wp.zeros(1, dtype=int, device="cpu")
wp.launch(added, dim=1, inputs=[seven], device="cpu")
assert seven.numpy()[0] == 7
"""


class Cache:
    """A program and its cache folder; `run` runs the program once more in a new process."""

    def __init__(self, folder):
        self.folder, self.path, self.root = folder, folder / "program.py", folder / "cache"
        self.write()

    def write(self, extra="", text=PROGRAM):
        self.path.write_text(HEADER + text.replace("EXTRA", extra))

    def start(self):
        here = os.path.dirname(__file__)
        env = dict(
            os.environ,
            INKLE_MODULE=MODULE,
            TEST_CACHE=str(self.root),
            PYTHONPATH=os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]),
        )
        return subprocess.Popen(
            [sys.executable, str(self.path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def finish(self, process):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0 and "GOOD" in out, f"exit {process.returncode}\n{out}\n{err}"

    def run(self):
        self.finish(self.start())

    def files(self):
        """Path, size, inode and digest of every file: an entry that is written again has another inode."""
        found = {}
        for path in self.root.rglob("*"):
            if path.is_file():
                found[str(path.relative_to(self.root))] = (
                    path.stat().st_size,
                    path.stat().st_ino,
                    hashlib.sha256(path.read_bytes()).hexdigest(),
                )
        return found

    def binaries(self):
        return [p for p in self.root.rglob("*") if p.is_file() and b"\0" in p.read_bytes()]


@pytest.fixture
def cache(tmp_path):
    made = Cache(pathlib.Path(tmp_path))
    made.run()
    return made


def test_second_process_writes_nothing(cache):
    before = cache.files()
    assert before
    cache.run()
    assert cache.files() == before


@differs_from_warp("truncated binaries are loaded")
@pytest.mark.parametrize("keep", [0.9, 0.5, 0.0])
def test_truncated_entries_are_repaired(cache, keep):
    for path in cache.binaries():
        os.truncate(path, int(path.stat().st_size * keep))
    damaged = cache.files()
    cache.run()
    repaired = cache.files()
    assert repaired != damaged
    cache.run()
    assert cache.files() == repaired


@differs_from_warp("binaries are not verified")
@pytest.mark.parametrize("place", [0.1, 0.5, 0.99])
def test_flipped_bits_are_never_run(cache, place):
    for path in cache.binaries():
        data = bytearray(path.read_bytes())
        data[int(len(data) * place)] ^= 0xFF
        path.write_bytes(bytes(data))
    cache.run()


@differs_from_warp("a foreign binary under a kernel's name is loaded")
def test_swapped_entries_are_never_run(cache):
    paths = cache.binaries()
    contents = [p.read_bytes() for p in paths]
    assert len(paths) >= 2
    for path, data in zip(paths, contents[1:] + contents[:1]):
        path.write_bytes(data)
    cache.run()


@differs_from_warp("the whole module is compiled again")
def test_adding_a_kernel_compiles_only_that_kernel(cache):
    before = cache.files()
    cache.write(ADDED)
    cache.run()
    after = cache.files()
    assert {name: after.get(name) for name in before} == before, "entries of unchanged kernels were rewritten"
    assert len(after) > len(before)


@differs_from_warp("the whole module is compiled again")
def test_moving_a_kernel_in_its_file_compiles_nothing(cache):
    before = cache.files()
    text = PROGRAM.replace("@wp.kernel\ndef cube", "# A comment.\n\n\nUNRELATED = 5\n\n\n@wp.kernel\ndef cube")
    assert text != PROGRAM
    cache.write(text=text)
    cache.run()
    assert cache.files() == before


def test_changing_a_kernel_changes_its_result(cache):
    text = PROGRAM.replace("s += i\n", "s += i + 1\n").replace("== 45", "== 55")
    assert text != PROGRAM
    cache.write(text=text)
    cache.run()
    cache.write()
    cache.run()


def test_changing_a_constant_or_function_changes_the_result(tmp_path):
    cache = Cache(pathlib.Path(tmp_path))
    source = """
FACTOR = 3.0

@wp.func
def shape(v: float):
    return v * FACTOR

@wp.kernel
def use(out: wp.array(dtype=float)):
    out[0] = shape(2.0)

result = wp.zeros(1, dtype=float, device="cpu")
wp.launch(use, dim=1, inputs=[result], device="cpu")
assert result.numpy()[0] == EXPECTED, result.numpy()
"""
    for edit, expected in (("", 6.0), ("FACTOR = 4.0", 8.0), ("return v + FACTOR", 5.0), ("", 6.0)):
        text = source
        if edit.startswith("FACTOR"):
            text = text.replace("FACTOR = 3.0", edit)
        elif edit:
            text = text.replace("return v * FACTOR", edit)
        cache.write(text.replace("EXPECTED", str(expected)))
        cache.run()


def test_processes_racing_on_an_empty_cache(tmp_path):
    cache = Cache(pathlib.Path(tmp_path))
    for process in [cache.start() for _ in range(4)]:
        cache.finish(process)
    settled = cache.files()
    cache.run()
    assert cache.files() == settled


@differs_from_warp("leftovers of an interrupted writer stay")
def test_no_temporary_files_are_left(cache):
    assert not [name for name in cache.files() if "tmp" in name.lower() or name.endswith((".lock", "~"))]


@differs_from_warp("a cache folder that cannot be written is an error")
def test_unwritable_cache_is_no_error(tmp_path):
    cache = Cache(pathlib.Path(tmp_path))
    cache.root.write_text("a file where the folder should be")
    cache.run()
    assert cache.root.read_text() == "a file where the folder should be"
