"""The ``inkle`` command, as the console script starts it."""

import json
import os
import subprocess
import sys


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


def test_clear_names_the_directory(tmp_path):
    done = inkle("cache", "clear", "--json", env={"INKLE_CACHE_PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dir"] == str(tmp_path)
