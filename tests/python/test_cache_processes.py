"""The kernel cache under many processes, kills, full and read-only disks, limits, and with a remote store behind it."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import pytest
from _wp import ON_WARP

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: these are promises of inkle's own")

# Six kernels; prints how many this process compiled and found. SETUP runs before anything is launched.
PROGRAM = """
import inkle as wp
from inkle._native import compile_statistics
SETUP

def make(n):
    @wp.kernel(module="unique")
    def scaled(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = wp.sin(x[i]) * wp.float32(n)

    return scaled

x = wp.array([0.0, 1.0, 2.0], dtype=float, device="cpu")
y = wp.zeros(3, dtype=float, device="cpu")
for n in range(6):
    wp.launch(make(n), dim=3, inputs=[x], outputs=[y], device="cpu")
    assert abs(y.numpy()[1] - n * 0.84147098) < 1e-5, y.numpy()
compiled, cached, shared = compile_statistics()
print("RESULT", compiled, cached)
"""
KERNELS = 6


class Program:
    """The program and its cache directory."""

    def __init__(self, folder, setup=""):
        folder.mkdir(exist_ok=True)
        self.path, self.root = folder / "program.py", folder / "cache"
        self.path.write_text(PROGRAM.replace("SETUP", setup))

    def start(self, **env):
        env = {**os.environ, "INKLE_CACHE_PATH": str(self.root), **{k: str(v) for k, v in env.items()}}
        command = [sys.executable, str(self.path)]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, **env):
        """Runs it to its end: how many kernels were compiled, how many found, and what standard error says."""
        return finish(self.start(**env))

    def files(self):
        """The files with code."""
        return sorted(self.root.rglob("*.ink"))

    def everything(self):
        return sorted(p for p in self.root.rglob("*") if p.is_file())


def finish(process):
    out, err = process.communicate(timeout=240)
    result = [line.split() for line in out.splitlines() if line.startswith("RESULT")]
    assert process.returncode == 0 and result, f"exit {process.returncode}\n{out}\n{err}"
    return int(result[0][1]), int(result[0][2]), err


@pytest.fixture
def program(tmp_path):
    return Program(pathlib.Path(tmp_path))


def test_sixteen_processes_compile_each_kernel_once(program):
    results = [finish(process) for process in [program.start() for _ in range(16)]]
    assert sum(compiled for compiled, _, _ in results) == KERNELS
    assert sum(cached for _, cached, _ in results) == 15 * KERNELS
    assert all(err == "" for _, _, err in results)
    assert len(program.files()) == KERNELS
    assert {p.suffix for p in program.everything()} == {".ink", ".ix"}


def test_processes_that_are_killed_leave_a_cache_that_works(program):
    for pause in (0.02, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
        process = program.start()
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    compiled, cached, err = program.run()
    assert compiled + cached == KERNELS and err == ""
    assert program.run()[:2] == (0, KERNELS)


def test_the_lock_of_a_killed_process_is_taken_over(program):
    program.run()
    entry = program.files()[0]
    entry.unlink()
    entry.with_suffix(".lock").touch()
    assert program.run()[:2] == (1, KERNELS - 1)
    assert not entry.with_suffix(".lock").exists()


def test_whoever_waits_for_a_process_that_is_killed_compiles_itself(program):
    import fcntl

    program.run()
    entry = program.files()[0]
    entry.unlink()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(600)",
            str(entry.with_suffix(".lock")),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline().strip() == "held"
    waiting = program.start()
    with open(entry.with_suffix(".lock")) as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    time.sleep(1.0)
    assert waiting.poll() is None, "it did not wait"
    holder.kill()
    holder.communicate()
    assert finish(waiting)[:2] == (1, KERNELS - 1)


def test_a_full_disk_costs_one_warning(program):
    # Files of this process and its children cannot grow beyond 100 bytes: as on a full disk, half an entry is written.
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

    env = {**os.environ, "INKLE_CACHE_PATH": str(program.root)}
    done = subprocess.run(
        [sys.executable, "-B", str(program.path)], env=env, capture_output=True, text=True, preexec_fn=limit
    )
    assert done.returncode == 0 and f"RESULT {KERNELS} 0" in done.stdout, done.stdout + done.stderr
    assert done.stderr.count("inkle:") == 1 and str(program.root) in done.stderr, done.stderr
    assert program.files() == []
    assert program.run()[:2] == (KERNELS, 0)


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]).returncode != 0:
        pytest.skip("mounting a small disk needs privileges that this user has not")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_disk_without_room_for_all_kernels(program, small_disk):
    program.root = small_disk / "cache"
    compiled, cached, err = program.run()
    assert (compiled, cached) == (KERNELS, 0)
    assert err.count("inkle:") == 1 and "No space left" in err, err
    compiled, cached, err = program.run()
    assert compiled + cached == KERNELS


def test_a_read_only_disk_is_read_and_costs_one_warning(program, small_disk):
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    program.root = small_disk / "cache"
    program.run()
    for entry in program.files()[:2]:
        entry.unlink()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    compiled, cached, err = program.run()
    assert (compiled, cached) == (2, KERNELS - 2)
    assert err.count("inkle:") == 1 and "Read-only" in err, err


def test_damage_costs_one_warning(program):
    program.run()
    for entry in program.files()[:3]:
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 1
        entry.write_bytes(bytes(data))
    compiled, cached, err = program.run()
    assert (compiled, cached) == (3, KERNELS - 3)
    assert err.count("inkle:") == 1 and "damaged" in err, err
    assert program.run() == (0, KERNELS, "")


def test_without_the_cache_nothing_is_read_or_written(tmp_path):
    program = Program(pathlib.Path(tmp_path), setup="wp.config.cache_kernels = False")
    assert program.run() == (KERNELS, 0, "")
    assert not program.root.exists()


def test_the_configured_directory_wins_over_the_environment(tmp_path):
    chosen = tmp_path / "chosen"
    program = Program(pathlib.Path(tmp_path), setup=f"wp.config.kernel_cache_dir = {str(chosen)!r}")
    program.run()
    assert not program.root.exists() and len(list(chosen.rglob("*.ink"))) == KERNELS


def test_the_directory_of_the_reference_package_is_used_when_no_other_is_set(program, tmp_path):
    program.run(INKLE_CACHE_PATH="", WARP_CACHE_PATH=tmp_path / "theirs")
    assert len(list((tmp_path / "theirs" / "inkle").rglob("*.ink"))) == KERNELS


def test_a_limit_is_kept_by_whoever_writes(program):
    program.run()
    size = max(p.stat().st_size for p in program.files())
    on_disk = -(-size // 4096) * 4096
    limit = 4 * on_disk
    for path in program.files():
        path.unlink()
    compiled, _, err = program.run(INKLE_CACHE_LIMIT=limit)
    assert compiled == KERNELS and err == ""
    kept = [p for p in program.files() if p.suffix == ".ink"]
    assert 0 < len(kept) and sum(-(-p.stat().st_size // 4096) * 4096 for p in kept) <= limit


def test_the_least_recently_used_kernels_go_first(program):
    program.run()
    old, *others = program.files()
    for path in program.everything():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    # Reading them renews their time of use.
    old.unlink()
    assert program.run()[:2] == (1, KERNELS - 1)
    os.utime(others[3], (1_000_000_000, 1_000_000_000))
    room = sum(-(-path.stat().st_size // 4096) * 4096 for path in program.everything()) - 1
    done = subprocess.run(
        [sys.executable, "-m", "inkle", "cache", "prune", "--json", "--dir", program.root, "--to", str(room)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["removed"] == 1
    assert not others[3].exists() and old.exists()


def test_a_limit_that_is_no_size_is_named(tmp_path):
    program = Program(pathlib.Path(tmp_path), setup='wp.config.kernel_cache_limit = "ten boxes"')
    process = program.start()
    _, err = process.communicate(timeout=120)
    assert process.returncode != 0 and "kernel_cache_limit" in err and "ten boxes" in err
    compiled, _, err = Program(pathlib.Path(tmp_path)).run(INKLE_CACHE_LIMIT="ten boxes")
    assert compiled == KERNELS and "INKLE_CACHE_LIMIT" in err and "ten boxes" in err


def test_machines_share_a_remote_directory(tmp_path):
    remote = tmp_path / "remote"
    one, other = (Program(tmp_path / name) for name in ("one", "other"))
    assert one.run(INKLE_CACHE_REMOTE=remote) == (KERNELS, 0, "")
    assert len(list(remote.rglob("*.ink"))) == KERNELS
    assert other.run(INKLE_CACHE_REMOTE=f"file://{remote}") == (0, KERNELS, "")
    # What came from there is on this machine's disk now.
    assert other.run() == (0, KERNELS, "")


def test_damage_in_the_remote_directory_is_noticed(tmp_path):
    remote = tmp_path / "remote"
    one, other = (Program(tmp_path / name) for name in ("one", "other"))
    one.run(INKLE_CACHE_REMOTE=remote)
    entry = next(remote.rglob("*.ink"))
    data = bytearray(entry.read_bytes())
    data[-1] ^= 1
    entry.write_bytes(bytes(data))
    assert other.run(INKLE_CACHE_REMOTE=remote)[:2] == (1, KERNELS - 1)


def test_a_remote_store_that_is_not_there_costs_one_warning(program, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no directory")
    compiled, cached, err = program.run(INKLE_CACHE_REMOTE=blocked)
    assert (compiled, cached) == (KERNELS, 0)
    assert err.count("inkle:") == 1 and str(blocked) in err, err


def test_a_remote_url_that_nothing_opens_is_named(tmp_path):
    program = Program(pathlib.Path(tmp_path), setup='wp.config.kernel_cache_remote = "gopher://old/store"')
    compiled, _, err = program.run()
    assert compiled == KERNELS
    assert err.count("inkle:") == 1 and "gopher://old/store" in err, err
