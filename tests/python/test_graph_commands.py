"""``inkle inspect``, ``replay``, ``strip``, ``keygen``, ``sign`` and ``verify``: graph files on the command line."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import _alone
import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = [pytest.mark.skipif(ON_WARP, reason="the files are inkle's own"), *_alone.MARKS]


@wp.kernel
def scaled(x: wp.array(dtype=wp.vec3), factor: float, y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    y[i] = x[i] * factor


@wp.kernel
def count_down(n: wp.array(dtype=int), rounds: wp.array(dtype=int)):
    n[0] = n[0] - 1
    rounds[0] = rounds[0] + 1


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.inkle"
    x = wp.array(np.arange(12, dtype=np.float32).reshape(4, 3), dtype=wp.vec3, device="cpu")
    y = wp.zeros(4, dtype=wp.vec3, device="cpu")
    n, rounds = (wp.zeros(1, dtype=int, device="cpu") for _ in range(2))
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scaled, dim=4, inputs=[x, 3.0, y], device="cpu")
        wp.capture_while(n, lambda: wp.launch(count_down, dim=1, inputs=[n, rounds], device="cpu"))
    wp.capture_save(capture.graph, path, inputs={"x": x, "n": n}, outputs={"y": y, "rounds": rounds})
    return path


@pytest.fixture
def path(original, tmp_path):
    """The file, alone in a folder."""
    path = tmp_path / "alone" / "graph.inkle"
    path.parent.mkdir()
    path.write_bytes(original.read_bytes())
    return path


def inkle(*arguments, folder, code=0):
    command = [sys.executable, "-m", "inkle", *map(str, arguments)]
    environment = {**os.environ, "INKLE_CACHE_PATH": str(folder / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def inkle_output(*arguments, folder, code):
    """What a command prints that finds something wrong."""
    command = [sys.executable, "-m", "inkle", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_inspect_shows_what_is_in_a_file(path):
    text = inkle("inspect", path.name, folder=path.parent)
    for line in (
        "  input  x: vec3f [4], in r0",
        "  output rounds: int32 [1], in r3",
        "  launch scaled [4] x=r0+0 factor=3 y=r1+0",
        "    body:",
        "      launch count_down [1] n=r2+0 rounds=r3+0",
    ):
        assert line in text.splitlines(), text
    for target in ("x86-64-v2", "x86-64-v3", "aarch64", "compute_75"):
        assert any(line.split()[:2] == ["scaled", target] for line in text.splitlines()), text


def test_inspect_says_the_same_in_json(path):
    found = json.loads(inkle("inspect", path.name, "--json", folder=path.parent))
    assert found["bytes"] == path.stat().st_size and found["format"] == 1
    assert [(p["name"], p["direction"], p["dtype"], p["shape"]) for p in found["params"]] == [
        ("x", "input", "vec3f", [4]),
        ("n", "input", "int32", [1]),
        ("y", "output", "vec3f", [4]),
        ("rounds", "output", "int32", [1]),
    ]
    launch, loop = found["operations"]
    assert launch["text"].startswith("launch scaled") and "bodies" not in launch
    assert loop["text"] == "while r2+0" and loop["bodies"][0]["operations"][0]["text"].startswith("launch count_down")
    assert [region["bytes"] for region in found["memory"]] == [48, 48, 4, 4]
    assert [region["file_bytes"] for region in found["memory"]] == [48, 0, 0, 0]
    assert all(code["bytes"] > 0 and code["lanes"] >= 1 for code in found["code"])
    assert {kernel["name"] for kernel in found["kernels"]} == {"scaled", "count_down"}


def test_inspect_draws(path):
    dot = inkle("inspect", path.name, "--dot", folder=path.parent)
    assert dot.startswith("digraph") and 'label="scaled"' in dot and 'label="while"' in dot
    picture = ElementTree.fromstring(inkle("inspect", path.name, "--svg", folder=path.parent))
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert words == ["scaled", "while", "body", "count_down"]
    detailed = inkle("inspect", path.name, "--svg", "--details", folder=path.parent)
    assert "launch scaled [4]" in detailed


def test_replay_runs_on_arrays_from_files(path):
    folder = path.parent
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    np.save(folder / "x.npy", x)
    np.save(folder / "n.npy", np.array([5], dtype=np.int32))
    files = ["--input", "x=x.npy", "--input", "n=n.npy", "--output", "y=y.npy", "--output", "rounds=rounds.npy"]
    found = json.loads(inkle("replay", path.name, *files, "--json", folder=folder))
    np.testing.assert_array_equal(np.load(folder / "y.npy"), x * np.float32(3))
    rounds = np.load(folder / "rounds.npy")
    assert rounds.tolist() == [5] and rounds.dtype == np.int32
    assert found["device"] == "cpu" and [output["shape"] for output in found["outputs"]] == [[4], [1]]
    assert not (folder / "cache").exists()


def test_replay_starts_from_the_memory_in_the_file_and_keeps_it_between_runs(path):
    folder = path.parent
    inkle("replay", path.name, "--output", "y=y.npy", folder=folder)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), 3.0 * np.arange(12).reshape(4, 3))
    np.save(folder / "n.npy", np.array([2], dtype=np.int32))
    files = ["--input", "n=n.npy", "--output", "rounds=rounds.npy"]
    text = inkle("replay", path.name, *files, "--repeat", "3", folder=folder)
    assert "3 runs" in text and np.load(folder / "rounds.npy").tolist() == [2]


def test_replay_runs_on_a_gpu(path, cuda_device):
    folder = path.parent
    np.save(folder / "n.npy", np.array([5], dtype=np.int32))
    files = ["--input", "n=n.npy", "--output", "y=y.npy", "--output", "rounds=rounds.npy"]
    inkle("replay", path.name, *files, "--device", cuda_device, folder=folder)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), 3.0 * np.arange(12).reshape(4, 3))
    assert np.load(folder / "rounds.npy").tolist() == [5]


@pytest.mark.parametrize(
    "array, said",
    [
        (np.zeros((4, 3)), "<f8 and shape [4, 3], the parameter is <f4 and [4, 3]"),
        (np.zeros((3, 4), dtype=np.float32), "shape [3, 4], the parameter is <f4 and [4, 3]"),
        (np.asfortranarray(np.zeros((4, 3), dtype=np.float32)), "ascontiguousarray"),
        (np.zeros((4, 3), dtype=">f4"), "type >f4"),
    ],
)
def test_replay_names_what_does_not_fit(path, array, said):
    folder = path.parent
    np.save(folder / "x.npy", array)
    message = inkle("replay", path.name, "--input", "x=x.npy", folder=folder, code=1)
    assert "x.npy" in message and said in message


def test_replay_names_what_it_does_not_find(path):
    folder = path.parent
    message = inkle("replay", path.name, "--output", "z=z.npy", folder=folder, code=1)
    assert "`z`" in message and "x, n, y, rounds" in message
    assert "missing.npy" in inkle("replay", path.name, "--input", "x=missing.npy", folder=folder, code=1)
    assert "NAME=FILE.npy" in inkle("replay", path.name, "--input", "x", folder=folder, code=2)
    assert "tpu" in inkle("replay", path.name, "--device", "tpu", folder=folder, code=1)
    (folder / "text").write_text("no graph")
    for command in ("inspect", "replay"):
        assert "text: not a graph file" in inkle(command, "text", folder=folder, code=1)


def test_strip_keeps_the_code_that_is_named(path):
    folder, before = path.parent, path.stat().st_size
    kept = ["--target", "x86-64-v2", "--target", "aarch64"]
    inkle("strip", path.name, *kept, "--output", "small.inkle", folder=folder)
    assert path.stat().st_size == before
    found = json.loads(inkle("inspect", "small.inkle", "--json", folder=folder))
    assert {code["target"] for code in found["code"]} == {"x86-64-v2", "aarch64"}
    assert all(kernel["ir_bytes"] > 0 for kernel in found["kernels"])
    inkle("replay", "small.inkle", "--output", "y=y.npy", folder=folder)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), 3.0 * np.arange(12).reshape(4, 3))
    inkle("strip", path.name, *kept, "--without-ir", folder=folder)
    assert path.stat().st_size < (folder / "small.inkle").stat().st_size < before
    assert wp.capture_load(path, device="cpu").op_count == 3


def test_a_stripped_file_is_compiled_from_its_ir_or_says_what_it_has(path):
    folder = path.parent
    inkle("strip", path.name, "--target", "compute_75", "--output", "gpu.inkle", folder=folder)
    inkle("replay", "gpu.inkle", "--output", "y=y.npy", folder=folder)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), 3.0 * np.arange(12).reshape(4, 3))
    inkle("strip", path.name, "--target", "compute_75", "--without-ir", folder=folder)
    message = inkle("replay", path.name, folder=folder, code=1)
    assert "no code of kernel `scaled` for this CPU" in message and "compute_75" in message


def test_strip_refuses_targets_that_the_file_lacks(path):
    folder, before = path.parent, path.read_bytes()
    message = inkle("strip", path.name, "--target", "sm_90", folder=folder, code=1)
    assert "sm_90" in message and "compute_75" in message
    assert "sm_1" in inkle("strip", path.name, "--target", "sm_1", folder=folder, code=1)
    assert "--target" in inkle("strip", path.name, folder=folder, code=2)
    assert path.read_bytes() == before


def test_a_file_is_signed_and_verified(path):
    folder = path.parent
    inkle("keygen", "ours", folder=folder)
    inkle("keygen", "theirs", folder=folder)
    assert (folder / "ours").stat().st_mode & 0o77 == 0
    assert "not signed" in inkle_output("verify", path.name, folder=folder, code=1)
    inkle("sign", path.name, "--key", "ours", folder=folder)
    verified = json.loads(inkle("verify", path.name, "--key", "ours.pub", "--json", folder=folder))
    assert verified["valid"] and verified["public_key"] in inkle("inspect", path.name, folder=folder)
    inkle("verify", path.name, folder=folder)
    assert "another key" in inkle_output("verify", path.name, "--key", "theirs.pub", folder=folder, code=1)
    inkle("replay", path.name, "--key", "ours.pub", "--output", "y=y.npy", folder=folder)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), 3.0 * np.arange(12).reshape(4, 3))
    assert "another key" in inkle("replay", path.name, "--key", "theirs.pub", folder=folder, code=1)
    # Signed again it is another's; stripped it is nobody's.
    inkle("sign", path.name, "--key", "theirs", "--output", "again.inkle", folder=folder)
    inkle("verify", "again.inkle", "--key", "theirs.pub", folder=folder)
    stripped = inkle("strip", path.name, "--target", "x86-64-v2", folder=folder)
    assert "no longer signed" in stripped
    assert "not signed" in inkle_output("verify", path.name, "--key", "ours.pub", folder=folder, code=1)


def test_a_changed_file_is_not_verified(path):
    folder = path.parent
    inkle("keygen", "ours", folder=folder)
    inkle("sign", path.name, "--key", "ours", folder=folder)
    whole = bytearray(path.read_bytes())
    for place in (12, len(whole) // 2, len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        for command in ("verify", "inspect", "replay"):
            assert "graph file" in inkle(command, path.name, folder=folder, code=1)


def test_keys_that_are_none_are_named(path):
    folder = path.parent
    (folder / "text").write_text("no key")
    inkle("keygen", "ours", folder=folder)
    assert "ours" in inkle("keygen", "ours", folder=folder, code=1)
    for arguments in (("sign", "--key", "ours.pub"), ("sign", "--key", "text"), ("verify", "--key", "ours")):
        message = inkle(arguments[0], path.name, *arguments[1:], folder=folder, code=1)
        assert arguments[-1] in message and "not a key" in message
    assert "missing" in inkle("sign", path.name, "--key", "missing", folder=folder, code=1)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_keys_of_openssl_do(path):
    folder = path.parent
    openssl = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", "secret.pem"]
    subprocess.run(openssl, cwd=folder, check=True, capture_output=True)
    inkle("sign", path.name, "--key", "secret.pem", folder=folder)
    for secret in ("secret.pem", "ours"):
        if secret == "ours":
            inkle("keygen", "ours", folder=folder)
            inkle("sign", path.name, "--key", "ours", folder=folder)
        public = ["openssl", "pkey", "-in", secret, "-pubout", "-out", "public.pem"]
        subprocess.run(public, cwd=folder, check=True, capture_output=True)
        inkle("verify", path.name, "--key", "public.pem", folder=folder)


def test_capture_load_asks_for_a_signature(path):
    folder = path.parent
    inkle("keygen", "ours", folder=folder)
    with pytest.raises(RuntimeError, match="not signed"):
        wp.capture_load(path, device="cpu", public_key=folder / "ours.pub")
    inkle("sign", path.name, "--key", "ours", folder=folder)
    assert wp.capture_load(path, device="cpu", public_key=str(folder / "ours.pub")).op_count == 3
    key = bytes.fromhex(json.loads(inkle("verify", path.name, "--json", folder=folder))["public_key"])
    assert wp.capture_load(path.read_bytes(), device="cpu", public_key=key).op_count == 3
    with pytest.raises(ValueError, match="32 bytes"):
        wp.capture_load(path, device="cpu", public_key=b"short")
    with pytest.raises(TypeError, match="public_key"):
        wp.capture_load(path, device="cpu", public_key=3)
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    with pytest.raises(RuntimeError, match="signature"):
        wp.capture_load(bytes(changed), device="cpu")
