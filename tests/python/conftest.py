"""Fixtures and options: `device` runs a test once per device; every skip is counted by reason at the end."""

import collections
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from _wp import MODULE, wp

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


def pytest_terminal_summary(terminalreporter):
    reasons = collections.Counter(
        r.longrepr[2] if isinstance(r.longrepr, tuple) else str(r.longrepr)
        for r in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        terminalreporter.section("skipped, by reason")
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
            terminalreporter.write_line(f"{count:5d}  {reason.removeprefix('Skipped: ')}")
