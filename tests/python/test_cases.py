"""Runs the programs people got stuck on, where the folder that holds them is there; each in its own process."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from _wp import MODULE, ON_WARP

FOLDER = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "open"
# Not yet: 17 (lanes of tiles), 24 (export).
IN_SCOPE = tuple(f"{n:02}" for n in range(1, 25) if n not in (17, 24))
NEEDS_TORCH = ("21",)
CASES = sorted(p for p in FOLDER.glob("*.py") if p.name[:2] in IN_SCOPE) if FOLDER.is_dir() else []


@pytest.mark.skipif(not CASES, reason="the folder of cases is absent")
def test_all_cases_in_scope_are_there():
    assert len(CASES) == len(IN_SCOPE)


@pytest.mark.skipif(ON_WARP, reason="Warp differs: half of the cases fail there")
@pytest.mark.parametrize(
    "name",
    [p.stem for p in CASES] or [pytest.param("none", marks=pytest.mark.skip(reason="the folder of cases is absent"))],
)
def test_case(name, tmp_path):
    if name[:2] in NEEDS_TORCH and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    cache = tmp_path / "cache"
    work = tmp_path / "work"
    work.mkdir()
    env = dict(
        os.environ,
        INKLE_MODULE=MODULE,
        WARP_CACHE_PATH=str(cache),
        INKLE_CACHE_PATH=str(cache),
        XDG_CACHE_HOME=str(tmp_path / "xdg"),
    )
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py")], cwd=work, env=env, capture_output=True, text=True, timeout=180
    )
    shutil.rmtree(tmp_path, ignore_errors=True)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
