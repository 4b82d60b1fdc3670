"""Algorithms of `wp.utils` in graph files: as kernels, which graphs on GPUs can have, and in files of Warp's."""

import json
import os
import struct
import subprocess
import sys

import _alone
import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="the files are inkle's own")

COUNT = 300
RANDOM = np.random.default_rng(5)


def alone(test):
    """Launches of the test are done again without Python; on GPUs that has no algorithms."""
    for mark in _alone.MARKS:
        test = mark(test)
    return test


def zeros(count, dtype=wp.int32):
    return wp.zeros(count, dtype=dtype, device="cpu")


def inkle(*arguments):
    done = subprocess.run([sys.executable, "-m", "inkle", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file with every algorithm, two of them in bodies, and its path as kernels."""
    path = tmp_path_factory.mktemp("graph") / "graph.inkle"
    x, again = zeros(COUNT), zeros(1)
    sums, runs, lengths, run_count = zeros(2 * COUNT), zeros(COUNT), zeros(COUNT), zeros(1)
    keys, places, parts, part_places = (zeros(2 * COUNT) for _ in range(4))
    starts = wp.array([0, 7, 7, COUNT], dtype=wp.int32, device="cpu")
    numbers, products = zeros(COUNT, float), zeros(1, wp.float64)
    rows, row_sums = zeros((3, COUNT // 3), wp.float64), zeros((3, 1), wp.float64)
    order = wp.array(np.arange(COUNT, dtype=np.int32), device="cpu")

    def sort():
        wp.utils.radix_sort_pairs(keys, places, COUNT)
        again.zero_()

    with wp.ScopedCapture(device="cpu") as capture:
        wp.utils.array_scan(x, sums[::2], inclusive=False)
        wp.utils.runlength_encode(x, runs, lengths, run_count=run_count)
        for array, given in ((keys, x), (places, order), (parts, x), (part_places, order)):
            wp.copy(array, given, count=COUNT)
        again.fill_(1)
        wp.capture_while(again, sort)
        wp.capture_if(x[:1], lambda: wp.utils.segmented_sort_pairs(parts, part_places, COUNT, starts))
        wp.utils.array_cast(in_array=x, out_array=numbers)
        wp.utils.array_cast(in_array=x.reshape(rows.shape), out_array=rows)
        wp.utils.array_sum(rows, out=row_sums, axis=1)
        wp.utils.array_inner(rows.flatten(), rows.flatten(), out=products)
    outputs = {"sums": sums, "runs": runs, "lengths": lengths, "run_count": run_count, "keys": keys, "places": places}
    outputs |= {"parts": parts, "part_places": part_places, "numbers": numbers, "row_sums": row_sums}
    wp.capture_save(capture.graph, path, inputs={"x": x}, outputs=outputs | {"products": products})
    converted = path.with_name("converted.inkle")
    assert inkle("convert", path, "--output", converted).endswith(", 8 algorithms as kernels\n")
    return path, converted


def results(graph, x, device):
    """What a graph leaves for an input, by name."""
    graph.set_param("x", wp.array(x, device=device))
    wp.capture_launch(graph)
    found = {}
    for name, about in graph.params.items():
        if about["kind"] == "output":
            out = wp.empty(about["shape"], dtype=about["dtype"], device=device)
            graph.get_param(name, out)
            found[name] = out.numpy()
    return found


def check(found, x):
    """Compares with numpy."""
    wide = x.astype(np.float64)
    order = np.argsort(x, kind="stable")
    np.testing.assert_array_equal(found["sums"][::2], np.cumsum(x) - x)
    assert not found["sums"][1::2].any()
    first = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
    assert found["run_count"][0] == len(first)
    np.testing.assert_array_equal(found["runs"][: len(first)], x[first])
    np.testing.assert_array_equal(found["lengths"][: len(first)], np.diff(np.r_[first, len(x)]))
    np.testing.assert_array_equal(found["keys"][:COUNT], x[order])
    np.testing.assert_array_equal(found["places"][:COUNT], order)
    pieces = [x[:7], x[7:]] if x[0] else [x]
    places = np.concatenate([np.argsort(x[:7], kind="stable"), 7 + np.argsort(x[7:], kind="stable")])
    np.testing.assert_array_equal(found["parts"][:COUNT], np.concatenate([np.sort(p) for p in pieces]) if x[0] else x)
    np.testing.assert_array_equal(found["part_places"][:COUNT], places if x[0] else np.arange(COUNT))
    np.testing.assert_array_equal(found["numbers"], x.astype(np.float32))
    np.testing.assert_array_equal(found["row_sums"][:, 0], wide.reshape(3, -1).sum(axis=1))
    np.testing.assert_array_equal(found["products"], [(wide**2).sum()])


def inputs():
    for first in (0, 3):
        x = RANDOM.integers(-2, 3, COUNT).astype(np.int32)
        x[0] = first
        yield x


@alone
def test_a_graph_does_the_same_with_kernels_in_place_of_algorithms(saved):
    for path in saved:
        graph = wp.capture_load(path, device="cpu")
        for x in inputs():
            check(results(graph, x, "cpu"), x)


def test_kernels_of_algorithms_have_code_for_every_machine_and_their_ir(saved):
    found = json.loads(inkle("inspect", saved[1], "--json"))
    targets = {}
    for code in found["code"]:
        targets.setdefault(code["kernel"], set()).add(code["target"])
    assert targets.keys() == {kernel["name"] for kernel in found["kernels"]} and len(targets) > 8
    assert all(has == {"x86-64-v2", "x86-64-v3", "aarch64", "compute_75"} for has in targets.values())
    text = json.dumps(found["operations"])
    assert "launch" in text and "array_scan" not in text and "radix_sort" not in text
    graph = wp.capture_load(saved[1], device="cpu", recompile=True)
    x = next(inputs())
    check(results(graph, x, "cpu"), x)


def test_algorithms_run_on_a_gpu(saved, cuda_device):
    for path, recompile in ((saved[0], None), (saved[1], None), (saved[1], False)):
        graph = wp.capture_load(path, device=cuda_device, recompile=recompile)
        for x in inputs():
            check(results(graph, x, cuda_device), x)
    with pytest.raises(NotImplementedError, match=r"^array_\w+\(\) on a GPU, before `inkle convert`"):
        wp.capture_load(saved[0], device=cuda_device, recompile=False)


def test_what_is_being_captured_is_left_alone(saved, tmp_path):
    x = zeros(3)
    with wp.ScopedCapture(device="cpu") as capture:
        x.fill_(4)
        output = tmp_path / "out.inkle"
        arguments = ["inkle", "convert", str(saved[0]), "--output", str(output)]
        assert wp._native.run_command(arguments) == 0
    assert output.exists() and capture.graph.op_count == 1
    wp.capture_launch(capture.graph)
    assert x.list() == [4, 4, 4]


def warp_file(regions, params, operations):
    """A file as Warp 1.19 saves it of a graph of a GPU, without kernels."""

    def text(value):
        return struct.pack("<I", len(value)) + value.encode()

    metadata = struct.pack("<I", 18) + text("1.19.0") + struct.pack("<6I", 90, 0, 0, len(params), 0, 0)
    metadata += b"".join(text(name) + struct.pack("<I", region) for name, region in params)
    memory = struct.pack("<I", len(regions))
    for number, contents in regions.items():
        memory += struct.pack("<IIQQ", number, 4, contents.nbytes, 1) + contents.tobytes()
    stream = struct.pack("<I", len(operations))
    stream += b"".join(struct.pack("<II", kind, 8 + len(body)) + body for kind, body in operations)
    header = b"WRP1" + struct.pack("<IIIQ", 18, 0, 3, 64) + bytes(4) + struct.pack("<I", 90) + bytes(32)
    at, table = len(header) + 3 * 32, b""
    for kind, section in enumerate((metadata, memory, stream), 1):
        table += struct.pack("<IIQQQ", kind, 0, at, len(section), len(section))
        at += len(section)
    return header + table + metadata + memory + stream


@pytest.fixture
def of_warp(tmp_path):
    """A file of Warp's with running sums and a sum, and the numbers in it."""
    x = RANDOM.random(COUNT).astype(np.float32)
    regions = {1: x, 2: np.zeros(COUNT, np.float32), 3: np.zeros(1, np.float32)}
    scan = struct.pack("<iiQQIiiiBBH", 2, 1, 0, 0, COUNT, 4, 4, 1, 5, 1, 0)
    total = struct.pack("<iiiIQQQiiiBBH", 1, -1, 3, COUNT, 0, 0, 0, 4, 0, 1, 1, 5, 0)
    path = tmp_path / "graph.wrp"
    path.write_bytes(warp_file(regions, [("x", 1), ("sums", 2), ("total", 3)], [(9, scan), (16, total)]))
    return path, x


def check_of_warp(graph, x, device):
    for values in (x, x[::-1].copy()):
        graph.set_param("x", wp.array(values, device=device))
        wp.capture_launch(graph)
        sums, total = wp.empty(COUNT, dtype=float, device=device), wp.empty(1, dtype=float, device=device)
        graph.get_param("sums", sums)
        graph.get_param("total", total)
        np.testing.assert_allclose(sums.numpy(), np.cumsum(values.astype(np.float64)), rtol=1e-5)
        np.testing.assert_allclose(total.numpy(), [values.astype(np.float64).sum()], rtol=1e-6)


@alone
def test_a_file_of_warp_s_runs_and_becomes_one_of_inkle_s(of_warp, tmp_path):
    path, x = of_warp
    assert "array_scan" in inkle("inspect", path)
    check_of_warp(wp.capture_load(path, device="cpu"), x, "cpu")
    output = tmp_path / "graph.inkle"
    found = json.loads(inkle("convert", path, "-o", output, "--json"))
    assert found["algorithms"] == 2 and found["bytes"] == output.stat().st_size
    assert output.read_bytes().startswith(b"\x89INKLE") and "array_scan" not in inkle("inspect", output)
    check_of_warp(wp.capture_load(output, device="cpu"), x, "cpu")


def test_a_file_of_warp_s_with_algorithms_runs_on_a_gpu(of_warp, cuda_device):
    path, x = of_warp
    check_of_warp(wp.capture_load(path, device=cuda_device), x, cuda_device)


def test_convert_keeps_what_is_no_algorithm(tmp_path):
    path, output = tmp_path / "graph.inkle", tmp_path / "again.inkle"
    x = zeros(4)
    with wp.ScopedCapture(device="cpu") as capture:
        x.fill_(7)
    wp.capture_save(capture.graph, path, outputs={"x": x})
    assert inkle("convert", path, "-o", output).rstrip().endswith("B")
    assert output.read_bytes() == path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "inkle", "convert", os.fspath(tmp_path), "-o", output], text=True, capture_output=True
    )
    assert done.returncode == 1 and tmp_path.name in done.stderr
