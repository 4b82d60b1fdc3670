"""The ``inkle`` command, as the console script starts it."""

import json
import os
import subprocess
import sys

import pytest


def inkle(*arguments, env=None):
    """Runs the command with these arguments; gives the finished process."""
    command = [sys.executable, "-m", "inkle", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})


def test_without_arguments_it_tells_its_subcommands():
    done = inkle()
    assert done.returncode == 2
    assert "cache" in done.stderr and "Usage" in done.stderr


def test_an_unknown_subcommand_is_named():
    done = inkle("wash")
    assert done.returncode == 2 and "'wash'" in done.stderr


def test_help_is_no_failure():
    done = inkle("--help")
    assert done.returncode == 0 and done.stderr == ""
    assert "cache" in done.stdout


PROGRAM = """
import inkle as wp

@wp.kernel
def double(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0 * x[i]

@wp.kernel
def halve(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 0.5 * x[i]

x = wp.ones(4, dtype=float, device="cpu")
wp.launch(double, dim=4, inputs=[x], device="cpu")
wp.launch(halve, dim=4, inputs=[x], device="cpu")
assert x.numpy().tolist() == [1.0] * 4
"""


@pytest.fixture
def cache(tmp_path):
    """A cache directory in which a program has left two kernels."""
    root, program = tmp_path / "cache", tmp_path / "program.py"
    program.write_text(PROGRAM)
    subprocess.run([sys.executable, program], env={**os.environ, "INKLE_CACHE_PATH": str(root)}, check=True)
    return root


def report(*arguments, code=0):
    """What the command prints with ``--json``."""
    done = inkle(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_list_tells_what_each_entry_is(cache):
    listed = report("cache", "list", "--dir", cache)
    assert sorted(entry["kernel"] for entry in listed["entries"]) == ["double", "halve"]
    for entry in listed["entries"]:
        assert os.path.getsize(entry["path"]) == entry["bytes"]
        assert entry["path"].removesuffix(".ink").replace(os.sep, "").endswith(entry["key"])
        assert entry["compile_ms"] > 0 and not entry["damaged"]
        assert entry["target"].split("-")[0] in ("x86_64", "aarch64")
    text = inkle("cache", "list", "--dir", cache).stdout.splitlines()
    assert len(text) == 3 and any(line.endswith(" double") for line in text) and "2 kernels" in text[-1]


def test_stats_count_by_target(cache):
    stats = report("cache", "stats", "--dir", cache)
    (target,) = stats["targets"].values()
    assert stats["entries"] == target["entries"] == 2
    assert stats["bytes"] == target["bytes"] == sum(p.stat().st_size for p in cache.rglob("*.ink"))
    assert stats["limit"] == 10 << 30
    assert "2 kernels" in inkle("cache", "stats", "--dir", cache).stdout


def test_verify_finds_damage_and_deletes_it_when_told(cache):
    assert report("cache", "verify", "--dir", cache) == {
        "dir": str(cache),
        "intact": 2,
        "damaged": [],
        "deleted": False,
    }
    entry = next(cache.rglob("*.ink"))
    entry.write_bytes(entry.read_bytes()[:-1])
    assert report("cache", "verify", "--dir", cache, code=1)["damaged"] == [str(entry)]
    assert [e["damaged"] for e in report("cache", "list", "--dir", cache)["entries"]].count(True) == 1
    assert report("cache", "stats", "--dir", cache)["damaged"] == 1
    assert entry.exists()
    assert report("cache", "verify", "--dir", cache, "--delete", code=1)["deleted"]
    assert not entry.exists()
    assert report("cache", "verify", "--dir", cache)["intact"] == 1


def test_prune_deletes_to_a_size_or_by_age(cache):
    old, new = cache.rglob("*.ink")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert report("cache", "prune", "--dir", cache, "--unused", 10_000)["removed"] == 0
    assert report("cache", "prune", "--dir", cache, "--unused", 30)["removed"] == 1
    assert not old.exists() and new.exists()
    assert report("cache", "prune", "--dir", cache, "--to", "0")["left"] == 0
    assert not new.exists()
    done = inkle("cache", "prune", "--to", "a lot")
    assert done.returncode == 2 and "a lot" in done.stderr


def test_clear_empties_the_directory(cache):
    stranger = cache / "notes.txt"
    stranger.write_text("keep")
    cleared = report("cache", "clear", "--dir", cache)
    assert cleared["removed"] == 2 and cleared["left"] == 0
    assert [p for p in cache.rglob("*") if p.is_file()] == [stranger]
    assert "0 kernels removed" in inkle("cache", "clear", "--dir", cache).stdout


def test_a_directory_that_is_none_is_an_error(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert str(file) in report("cache", "list", "--dir", file, code=1)["error"]
    assert str(file) in inkle("cache", "stats", "--dir", file).stderr


def test_the_environment_names_the_directory(tmp_path):
    done = inkle("cache", "clear", "--json", env={"INKLE_CACHE_PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dir"] == str(tmp_path)
