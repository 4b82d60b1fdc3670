"""Fixtures and options: `device` runs a test once per device; every skip is counted by reason at the end."""

import collections
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import _alone
from _wp import MODULE, ON_WARP, wp

DEVICES = ("cpu", "cuda:0")
NO_CUDA = "no CUDA device: is_cuda_available() is False"


def pytest_addoption(parser):
    parser.addoption(
        "--device", action="append", default=[], help="run device tests on this device only (may be repeated)"
    )


def pytest_report_header(config):
    return f"module under test: {MODULE} {getattr(wp, '__version__', '')}, CUDA: {bool(wp.is_cuda_available())}"


def _params(config, choices):
    chosen = [d for d in choices if not config.getoption("--device") or d in config.getoption("--device")]
    missing = not wp.is_cuda_available()
    return [pytest.param(d, marks=pytest.mark.skipif(missing and d != "cpu", reason=NO_CUDA)) for d in chosen]


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", _params(metafunc.config, DEVICES))
    if "cuda_device" in metafunc.fixturenames:
        metafunc.parametrize("cuda_device", _params(metafunc.config, DEVICES[1:]))


@pytest.fixture(scope="session")
def kits(tmp_path_factory):
    """Makes the folder with the replay library and its header for a target, once."""
    made = {}

    def kit(target):
        if target not in made:
            folder = tmp_path_factory.mktemp("kit")
            command = [_alone.ROOT / "scripts/replay_kit.sh", folder, *([] if target == "host" else [target])]
            done = subprocess.run(list(map(str, command)), cwd=_alone.ROOT, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            made[target] = folder
        return made[target]

    return kit


@pytest.fixture
def alone(request, kits, tmp_path_factory, monkeypatch):
    """Does the test's launches of graphs again in a process that has only their files; see `_alone`."""
    library = None if ON_WARP else _alone.library(kits)
    if library is None:
        yield
        return
    watched = _alone.Alone(tmp_path_factory.mktemp("alone"))
    monkeypatch.setattr(wp, "capture_launch", watched.launch)
    monkeypatch.setattr(wp, "capture_load", watched.load)
    monkeypatch.setattr(wp, "capture_load_from_bytes", watched.load_bytes)
    yield
    watched.check(library)


def pytest_terminal_summary(terminalreporter):
    reasons = collections.Counter(
        r.longrepr[2] if isinstance(r.longrepr, tuple) else str(r.longrepr)
        for r in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        terminalreporter.section("skipped, by reason")
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
            terminalreporter.write_line(f"{count:5d}  {reason.removeprefix('Skipped: ')}")
