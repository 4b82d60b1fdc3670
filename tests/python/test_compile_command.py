"""``inkle compile``, ``inkle bench cold-start`` and the record of where compilation spends its time."""

import json
import os
import re
import subprocess
import sys

import pytest
from _wp import ON_WARP

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: it has no such command")

SOURCE = """
from typing import Any
import inkle as wp

FACTOR = 2.5

@wp.func
def grow(x: float):
    return x * FACTOR

@wp.kernel
def vector(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = grow(x[i])

@wp.kernel
def single(x: wp.array(dtype=float)):
    x[0] = 1.0

def make(n):
    @wp.kernel(module="unique")
    def made(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = x[i] + wp.static(float(n))

    return made

closure = make(3)

@wp.kernel
def generic(x: wp.array(dtype=Any)):
    i = wp.tid()
    x[i] = x[i] + x.dtype(1)
"""


def inkle(*arguments, code=0, env=None):
    command = [sys.executable, "-m", "inkle", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def report(*arguments, code=0, env=None):
    return json.loads(inkle(*arguments, "--json", code=code, env=env).stdout)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE)
    return path


def test_all_kernels_of_a_file_are_compiled(source):
    kernels = report("compile", source, code=1)["kernels"]
    assert [k["kernel"] for k in kernels] == ["vector", "single", "make__locals__made", "generic"]
    assert [k["error"] is None for k in kernels] == [True, True, True, False]
    assert "overload" in kernels[3]["error"]
    assert all(k["bytes"] > 0 and k["ms"] > 0 and k["lanes"] >= 1 for k in kernels[:3])
    text = inkle("compile", source, "--kernel", "vector").stdout.splitlines()
    assert len(text) == 1 and text[0].startswith("vector") and "lanes" in text[0]


def test_several_targets_at_once(source):
    targets = ["native", "x86_64", "aarch64", "sm_75", "sm_120"]
    flags = [flag for target in targets for flag in ("--target", target)]
    kernels = report("compile", source, "--kernel", "vector", *flags)["kernels"]
    assert [k["target"] for k in kernels] == targets
    assert all(k["error"] is None for k in kernels)


@pytest.mark.parametrize(
    "emit, target, pattern",
    [
        ("ir", "native", r"kernel @vector\(.*x: array<f32, 1>"),
        ("llvm", "native", r"define .*@inkle_kernel"),
        ("llvm-opt", "x86-64-v3", r"x 8?.*float|<8 x float>"),
        ("ptx", "sm_90", r"\.target sm_90(.|\n)*\.entry inkle_kernel"),
        ("asm", "sm_80", r"\.target sm_80"),
        ("asm", "aarch64", r"\tfmul\t"),
    ],
)
def test_each_stage_can_be_printed(source, emit, target, pattern):
    arguments = ("compile", source, "--kernel", "vector", "--target", target, "--emit", emit)
    text = inkle(*arguments).stdout
    assert re.search(pattern, text), text
    assert emit == "ir" or text.splitlines()[0].endswith(f"vector for {target}")
    assert re.search(pattern, report(*arguments)["kernels"][0]["text"])


def test_code_is_written_to_a_folder(source, tmp_path):
    out = tmp_path / "out"
    flags = ["--kernel", "vector", "--target", "sm_90", "--target", "aarch64", "--out", out]
    files = [k["file"] for k in report("compile", source, *flags)["kernels"]]
    assert files == [str(out / "vector.sm_90.ptx"), str(out / "vector.aarch64.o")]
    assert b".version" in (out / "vector.sm_90.ptx").read_bytes()
    assert (out / "vector.aarch64.o").read_bytes()[:4] == b"\x7fELF"


def test_explain_says_why_a_kernel_is_not_vectorised(source):
    kernels = report("compile", source, "--explain", "--kernel", "single", "--kernel", "vector")["kernels"]
    assert kernels[0]["scalar"] is None and kernels[0]["lanes"] > 1
    assert kernels[1]["lanes"] == 1
    reason = kernels[1]["scalar"]
    assert "thread index" in reason["message"]
    assert reason["file"] == str(source) and reason["source"].startswith(("@wp.kernel", "def single"))
    text = inkle("compile", source, "--explain", "--kernel", "single", "--kernel", "vector").stdout
    assert "runs in vectors" in text and "one lane: the kernel does not ask for its thread index" in text
    assert f"{source}:{reason['line']}:" in text


def test_mistakes_are_shown_and_the_other_kernels_compiled(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(
        "import inkle as wp\n\n@wp.kernel\ndef bad(x: wp.array(dtype=float)):\n    x[0] = 1\n\n"
        "@wp.kernel\ndef good(x: wp.array(dtype=float)):\n    x[0] = 1.0\n"
    )
    done = inkle("compile", path, code=1)
    assert f"{path}:5" in done.stdout and "^" in done.stdout
    assert [k["error"] is None for k in report("compile", path, code=1)["kernels"]] == [False, True]


def test_kernel_ir_is_compiled_as_it_is(source, tmp_path):
    text = inkle("compile", source, "--kernel", "vector", "--emit", "ir").stdout
    path = tmp_path / "vector.ir"
    path.write_text(text)
    assert inkle("compile", path, "--emit", "ir").stdout == text
    path.write_text(text.replace("array<", "arry<"))
    assert f"{path}: 7:22: `arry`" in inkle("compile", path, code=1).stderr


def test_what_cannot_be_done_is_said(source, tmp_path):
    assert "no such file" in inkle("compile", tmp_path / "absent.py", code=1).stderr
    assert "sm_90" in inkle("compile", source, "--target", "sm_1", code=1).stderr
    assert "is a CPU" in inkle("compile", source, "--emit", "ptx", code=1).stderr
    message = inkle("compile", source, "--kernel", "nothing", code=1).stderr
    assert "nothing" in message and "vector" in message
    empty = tmp_path / "empty.py"
    empty.write_text("")
    assert "no kernels" in inkle("compile", empty, code=1).stderr
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('on purpose')\n")
    message = inkle("compile", broken, code=1).stderr
    assert "on purpose" in message and "broken.py" in message and "line 1" in message


def test_programs_written_for_the_reference_package_are_compiled(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import warp as wp\n\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[wp.tid()] = 1.0\n")
    assert report("compile", path)["kernels"][0]["kernel"] == "k"


PROGRAM = """
import sys
import inkle as wp

@wp.kernel
def add(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.sin(x[i]) + 1.0

x = wp.zeros(4, dtype=float, device="cpu")
wp.launch(add, dim=4, inputs=[x], device="cpu")
print("sum", x.numpy().sum(), sys.argv[1:])
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_a_cold_start_is_compared_with_a_warm_one(program):
    done = inkle("bench", "cold-start", "--json", program, "--flag", "value")
    # What the script prints does not get into the report.
    assert "sum 4.0 ['--flag', 'value']" in done.stderr
    measured = json.loads(done.stdout)
    cold, warm = measured["cold"], measured["warm"]
    for run in (cold, warm):
        parts = run["start_ms"] + run["compile_ms"] + run["other_ms"]
        assert 0 < run["compile_ms"] < run["total_ms"] and parts <= run["total_ms"] * 1.0001 + 0.1
        assert run["kernels"] > 0 and run["stages"]["parse"]["spans"] >= 1
    assert {"types", "IR", "lower", "LLVM", "object", "cache", "load"} <= set(cold["stages"])
    assert not {"lower", "LLVM", "object"} & set(warm["stages"])
    text = inkle("bench", "cold-start", program).stdout
    assert "until inkle is imported" in text and "LLVM" in text


def test_a_script_that_fails_is_said_to(tmp_path):
    path = tmp_path / "fails.py"
    path.write_text("import inkle\nraise SystemExit(3)\n")
    assert "exit status: 3" in inkle("bench", "cold-start", path, code=1).stderr
    path.write_text("print('no kernels here')\n")
    assert "does not import inkle" in inkle("bench", "cold-start", path, code=1).stderr


def check_trace(path, stages):
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    assert stages <= {e["cat"] for e in events}
    for event in events:
        assert event["ph"] == "X" and event["dur"] >= 0 and event["ts"] >= 0 and isinstance(event["tid"], int)
    kernels = [e for e in events if e["name"] == "kernel add"]
    assert kernels
    # Every stage of compilation lies within the kernel's span.
    for event in events:
        if event["cat"] in ("LLVM", "object", "lower"):
            assert any(k["ts"] <= event["ts"] and event["ts"] + event["dur"] <= k["ts"] + k["dur"] for k in kernels)


def run_program(path, folder, **env):
    env = {**os.environ, "INKLE_CACHE_PATH": str(folder), **env}
    done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    "how", ["wp.config.compile_time_trace = True", 'wp.set_module_options({"compile_time_trace": True})']
)
def test_compile_time_trace_writes_trace_events(program, tmp_path, how):
    program.write_text(PROGRAM.replace("@wp.kernel", f"{how}\n\n@wp.kernel"))
    run_program(program, tmp_path / "cache")
    (path,) = (tmp_path / "cache").glob("compile-time-trace-*.json")
    check_trace(path, {"kernel", "parse", "types", "IR", "cache", "lower", "LLVM", "object", "load"})


def test_the_environment_names_the_trace(program, tmp_path):
    path = tmp_path / "deep" / "trace.json"
    run_program(program, tmp_path / "cache", INKLE_COMPILE_TIME_TRACE=str(path))
    check_trace(path, {"kernel", "parse", "LLVM"})


def test_without_being_asked_for_there_is_no_trace(program, tmp_path):
    run_program(program, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.json"))


def test_a_trace_that_cannot_be_written_is_a_warning(program, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run_program(program, tmp_path / "cache", INKLE_COMPILE_TIME_TRACE=str(blocked / "trace.json"))
    assert "compile-time trace" in done.stderr and str(blocked) in done.stderr
