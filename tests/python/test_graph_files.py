"""Graphs in files: saved here, loaded here and in a process that has only the file."""

import json
import os
import subprocess
import sys

import _alone
import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = [pytest.mark.skipif(ON_WARP, reason="the files are inkle's own"), *_alone.MARKS]


@wp.struct
class Knobs:
    on: wp.bool
    gain: wp.float64
    offset: wp.array(dtype=float)
    tag: wp.uint8


@wp.kernel
def mix(
    a: wp.int8,
    v: wp.vec3,
    h: wp.vec3h,
    knobs: Knobs,
    x: wp.array(dtype=float),
    picked: wp.indexedarray(dtype=float),
    y: wp.array(dtype=float),
):
    i = wp.tid()
    s = x[i] + float(a) + v[1] + float(h[2]) + knobs.offset[i] + picked[i]
    if knobs.on:
        s = s * float(knobs.gain) + float(knobs.tag)
    y[i] = s


@wp.kernel
def waves(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * wp.exp(x[i]) + wp.pow(x[i], 1.5)


@wp.kernel
def halve(n: wp.array(dtype=wp.int32), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = y[i] * 0.5
    if i == 0:
        n[0] = n[0] - 1


def floats(*values):
    return wp.array(np.array(values, dtype=np.float32), dtype=float, device="cpu")


def everything():
    """A graph with every kind of operation; its arrays by name, and what it computes for an input."""
    x, y = floats(1, 2, 3, 4), wp.zeros(4, device="cpu")
    n, total = wp.zeros(1, dtype=wp.int32, device="cpu"), wp.zeros(1, device="cpu")
    sums = wp.zeros(4, device="cpu")
    knobs = Knobs()
    knobs.on, knobs.gain, knobs.offset, knobs.tag = True, 0.5, floats(10, 20, 30, 40), 7
    base = floats(*range(8))
    picked = wp.indexedarray(base, [wp.array([7, 5, 3, 1], dtype=int, device="cpu")])
    with wp.ScopedCapture(device="cpu", apic=True) as capture:
        scratch = wp.zeros(4, device="cpu")
        twice = wp.array([2.0, 2.0, 2.0, 2.0], dtype=float, device="cpu")
        wp.launch(
            mix,
            dim=4,
            inputs=[-3, wp.vec3(1.0, 2.0, 3.0), wp.vec3h(0.0, 0.0, 0.25), knobs, x, picked, scratch],
            device="cpu",
        )
        wp.copy(y[::2], scratch[::2])
        wp.copy(y[1::2], twice[1::2])
        n.fill_(2)
        wp.capture_while(n, lambda: wp.launch(halve, dim=4, inputs=[n, y], device="cpu"))
        wp.capture_if(n, on_false=lambda: wp.utils.array_sum(y, out=total))
        wp.utils.array_scan(y, sums, inclusive=True)

    def expected(x):
        s = (x - 3 + 2 + 0.25 + [10, 20, 30, 40] + np.array([7, 5, 3, 1])) * 0.5 + 7
        s[1::2] = 2
        return s * 0.25

    return capture.graph, {"x": x}, {"y": y, "total": total, "sums": sums}, expected


def check(graph, expected, values):
    graph.set_param("x", wp.array(np.array(values, dtype=np.float32), dtype=float, device="cpu"))
    wp.capture_launch(graph)
    y, total, sums = (wp.zeros(n, device="cpu") for n in (4, 1, 4))
    for name, array in (("y", y), ("total", total), ("sums", sums)):
        graph.get_param(name, array)
    right = expected(np.array(values))
    np.testing.assert_allclose(y.numpy(), right, rtol=1e-6)
    np.testing.assert_allclose(total.numpy(), [right.sum()], rtol=1e-6)
    np.testing.assert_allclose(sums.numpy(), np.cumsum(right), rtol=1e-6)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "everything.wrp"
    graph, inputs, outputs, expected = everything()
    wp.capture_save(graph, path, inputs=inputs, outputs=outputs)
    return path, expected


def test_a_file_is_the_whole_graph(saved):
    path, expected = saved
    assert os.listdir(path.parent) == ["everything.wrp"]
    graph = wp.capture_load(path, device="cpu")
    assert graph.is_loaded and list(graph.params) == ["x", "y", "total", "sums"]
    assert graph.params["x"] == {"size": 16, "dtype": wp.float32, "shape": (4,), "kind": "input"}
    for values in ([1, 2, 3, 4], [0, 0, 0, 0], [-5, 1e3, 2, 8]):
        check(graph, expected, values)


def test_a_fresh_process_needs_nothing_but_the_file(saved, tmp_path):
    path, expected = saved
    script = tmp_path / "load.py"
    script.write_text(
        "import sys\nimport inkle as wp\n"
        "graph = wp.capture_load(sys.argv[1], device='cpu')\n"
        "graph.set_param('x', wp.array([4.0, 3.0, 2.0, 1.0], dtype=float, device='cpu'))\n"
        "wp.capture_launch(graph)\ny = wp.zeros(4, device='cpu')\ngraph.get_param('y', y)\n"
        "print(y.list())\n"
    )
    environment = {**os.environ, "INKLE_CACHE_PATH": str(tmp_path / "cache")}
    command = [sys.executable, str(script), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout), expected(np.array([4, 3, 2, 1])), rtol=1e-6)
    compiled = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert compiled == []


def test_a_fresh_process_may_compile_for_its_own_machine(saved, tmp_path):
    path, expected = saved
    script = tmp_path / "load.py"
    script.write_text(
        "import sys\nimport inkle as wp\n"
        "graph = wp.capture_load(sys.argv[1], device='cpu', recompile=eval(sys.argv[2]))\n"
        "graph.set_param('x', wp.array([4.0, 3.0, 2.0, 1.0], dtype=float, device='cpu'))\n"
        "wp.capture_launch(graph)\ny = wp.zeros(4, device='cpu')\ngraph.get_param('y', y)\n"
        "print(y.list())\n"
    )
    for recompile, compiled in (("None", 0), ("False", 0), ("True", 2)):
        cache = tmp_path / recompile
        done = subprocess.run(
            [sys.executable, str(script), str(path), recompile],
            capture_output=True,
            text=True,
            env={**os.environ, "INKLE_CACHE_PATH": str(cache)},
        )
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(json.loads(done.stdout), expected(np.array([4, 3, 2, 1])), rtol=1e-6)
        assert len(list(cache.rglob("*.ink"))) == compiled, recompile


def test_loads_do_not_share_memory_with_each_other_or_the_program(saved):
    path, expected = saved
    first, second = (wp.capture_load(path, device="cpu") for _ in range(2))
    check(first, expected, [1, 1, 1, 1])
    check(second, expected, [9, 9, 9, 9])
    y = wp.zeros(4, device="cpu")
    first.get_param("y", y)
    np.testing.assert_allclose(y.numpy(), expected(np.ones(4)), rtol=1e-6)


def test_bytes_do_as_well_as_a_file(saved):
    path, expected = saved
    data = path.read_bytes()
    for form in (data, bytearray(data), memoryview(data), np.frombuffer(data, dtype=np.uint8)):
        check(wp.capture_load_from_bytes(form, device="cpu"), expected, [3, 1, 4, 1])
    check(wp.capture_load(data, device="cpu"), expected, [1, 5, 9, 2])
    with pytest.raises(TypeError):
        wp.capture_load_from_bytes("text", device="cpu")
    with pytest.raises(ValueError, match="not contiguous"):
        wp.capture_load_from_bytes(np.frombuffer(data, dtype=np.uint8)[::2], device="cpu")
    with pytest.raises(TypeError, match="mapping"):
        wp.capture_load_from_bytes(data, [("a", b"")], device="cpu")


def test_a_loaded_graph_may_work_on_the_program_s_memory(saved):
    path, expected = saved
    graph = wp.capture_load(path, device="cpu")
    x, y = floats(2, 4, 6, 8), wp.zeros(4, device="cpu")
    graph.set_param("x", x, copy=False)
    graph.set_param("y", y, copy=False)
    for values in ([2, 4, 6, 8], [1, 0, 1, 0]):
        x.assign(np.array(values, dtype=np.float32))
        wp.capture_launch(graph)
        np.testing.assert_allclose(y.numpy(), expected(np.array(values)), rtol=1e-6)


def test_paths(tmp_path):
    x = floats(1, 2)
    with wp.ScopedCapture(device="cpu") as capture:
        x.fill_(3.0)
    wp.capture_save(capture.graph, str(tmp_path / "plain"), outputs={"x": x})
    wp.capture_save(capture.graph, tmp_path / "named.bundle", outputs={"x": x})
    assert sorted(os.listdir(tmp_path)) == ["named.bundle", "plain.wrp"]
    for name in ("plain", "plain.wrp", "named.bundle"):
        assert wp.capture_load(tmp_path / name, device="cpu").op_count == 1
    with pytest.raises(RuntimeError, match=r"missing.wrp"):
        wp.capture_load(tmp_path / "missing", device="cpu")
    with pytest.raises(OSError, match="cannot write"):
        wp.capture_save(capture.graph, tmp_path / "no" / "folder")


def test_parameters_must_fit(saved):
    path, _ = saved
    graph = wp.capture_load(path, device="cpu")
    with pytest.raises(RuntimeError, match="no parameter `z`; it has x, y, total, sums"):
        graph.set_param("z", floats(1))
    with pytest.raises(RuntimeError, match="no parameter `z`"):
        graph.get_param("z", floats(1))
    with pytest.raises(Exception, match=r"`x`: expected array.*float.* of shape .4.*, got .*shape .3"):
        graph.set_param("x", floats(1, 2, 3))
    with pytest.raises(Exception, match="got .*int32"):
        graph.set_param("x", wp.zeros(4, dtype=wp.int32, device="cpu"))
    with pytest.raises(TypeError):
        graph.set_param("x", np.zeros(4, dtype=np.float32))
    graph.set_param("x", wp.array([[1.0, 2.0], [3.0, 4.0]], dtype=float, device="cpu"))
    back = wp.zeros(2, dtype=wp.vec2, device="cpu")
    graph.get_param("x", back)
    assert back.numpy().tolist() == [[1, 2], [3, 4]]
    assert graph.get_param_ptr("x") % 64 == 0 and graph.get_param_ptr("z") is None
    with pytest.raises(RuntimeError, match="cannot be saved"):
        wp.capture_save(graph, path.parent / "again")


def test_names_and_targets_must_make_sense(tmp_path):
    x, other = floats(1, 2), floats(5, 6, 7)
    with wp.ScopedCapture(device="cpu") as capture:
        x.fill_(3.0)
    with pytest.raises(ValueError, match="two parameters are named `x`"):
        wp.capture_save(capture.graph, tmp_path / "g", inputs={"x": x}, outputs={"x": x})
    with pytest.raises(ValueError, match="no target is named `sm_1`"):
        wp.capture_save(capture.graph, tmp_path / "g", targets=["sm_1"])
    with pytest.raises(TypeError, match="list of names"):
        wp.capture_save(capture.graph, tmp_path / "g", targets="sm_90")
    assert os.listdir(tmp_path) == []
    wp.capture_save(capture.graph, tmp_path / "g", inputs={"unused": other[1:]})
    graph, back = wp.capture_load(tmp_path / "g", device="cpu"), floats(0, 0)
    graph.get_param("unused", back)
    assert back.list() == [6, 7]


def test_code_for_every_machine_is_inside(tmp_path):
    x, y = floats(0.5, 1.0), floats(0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(waves, dim=2, inputs=[x, y], device="cpu")
    wp.capture_save(capture.graph, tmp_path / "g.wrp", inputs={"x": x}, outputs={"y": y}, targets=["x86-64-v4"])
    data = (tmp_path / "g.wrp").read_bytes()
    for name in (b"x86-64-v2", b"x86-64-v3", b"x86-64-v4", b"aarch64"):
        assert name in data
    assert data.count(b"\x7fELF") == 4
    graph = wp.capture_load(tmp_path / "g.wrp", device="cpu")
    wp.capture_launch(graph)
    graph.get_param("y", y)
    values = x.numpy()
    np.testing.assert_allclose(y.numpy(), np.sin(values) * np.exp(values) + values**1.5, rtol=1e-6)


def test_kernels_of_one_name_stay_apart(tmp_path):
    def writer(value):
        @wp.kernel(module="unique")
        def write(out: wp.array(dtype=wp.int32)):
            out[0] = wp.static(value)

        return write

    a, b = (wp.zeros(1, dtype=wp.int32, device="cpu") for _ in range(2))
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(writer(111), dim=1, inputs=[a], device="cpu")
        wp.launch(writer(222), dim=1, inputs=[b], device="cpu")
    wp.capture_save(capture.graph, tmp_path / "g", outputs={"a": a, "b": b})
    graph = wp.capture_load(tmp_path / "g", device="cpu")
    wp.capture_launch(graph)
    for name, value in (("a", 111), ("b", 222)):
        graph.get_param(name, a)
        assert a.list() == [value]


def test_views_of_one_memory_stay_views_of_one_memory(tmp_path):
    base = np.arange(12, dtype=np.float32).reshape(2, 6)
    left, right = (wp.from_numpy(part, dtype=float, device="cpu") for part in (base[:, :3], base[:, 3:]))
    with wp.ScopedCapture(device="cpu") as capture:
        wp.copy(right, left)
    wp.capture_save(capture.graph, tmp_path / "g", inputs={"left": left}, outputs={"right": right})
    graph = wp.capture_load(tmp_path / "g", device="cpu")
    new = np.array([[50, 51, 52], [60, 61, 62]], dtype=np.float32)
    graph.set_param("left", wp.array(new, device="cpu"))
    wp.capture_launch(graph)
    out = wp.zeros((2, 3), device="cpu")
    graph.get_param("right", out)
    np.testing.assert_array_equal(out.numpy(), new)


def test_copies_and_fills_through_index_lists_are_saved(tmp_path):
    base = wp.array(np.arange(12, dtype=np.float32).reshape(3, 4), device="cpu")
    rows = wp.indexedarray(base, [wp.array([2, 0], dtype=int, device="cpu"), None])
    points = wp.zeros(4, dtype=wp.vec3, device="cpu")
    some = wp.indexedarray(points, [wp.array([3, 1], dtype=int, device="cpu")])
    picked = wp.zeros((2, 4), dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.copy(picked, rows)
        rows.fill_(7.0)
        some.fill_(wp.vec3(1.0, 2.0, 3.0))
        wp.copy(picked[:, ::2], base[1:, 1::2])
    wp.capture_save(capture.graph, tmp_path / "g", inputs={"base": base}, outputs={"picked": picked, "points": points})
    graph = wp.capture_load(tmp_path / "g", device="cpu")
    values = 10 * np.arange(12, dtype=np.float32).reshape(3, 4)
    graph.set_param("base", wp.array(values, device="cpu"))
    wp.capture_launch(graph)
    for name, array in (("picked", picked), ("points", points), ("base", base)):
        graph.get_param(name, array)
    right = values[[2, 0]]
    values[[2, 0]] = 7
    right[:, ::2] = values[1:, 1::2]
    np.testing.assert_array_equal(picked.numpy(), right)
    np.testing.assert_array_equal(base.numpy(), values)
    np.testing.assert_array_equal(points.numpy(), [[0, 0, 0], [1, 2, 3], [0, 0, 0], [1, 2, 3]])


def test_files_that_are_something_else(tmp_path):
    for content, why in (
        (b"", "not a graph file"),
        (b"hello, world", "not a graph file"),
        (b"WRP1" + bytes(100), "version 0 of Warp.s format"),
    ):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises((RuntimeError, NotImplementedError), match=why):
            wp.capture_load(tmp_path / "f", device="cpu")


def test_damage_is_an_error_wherever_it_is(saved):
    data = saved[0].read_bytes()
    rng = np.random.default_rng(3)
    places = {*range(200), *rng.integers(0, len(data), 300).tolist()}
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(RuntimeError, match="graph file"):
            wp.capture_load_from_bytes(damaged, device="cpu")
    for length in (0, 1, 63, 64, len(data) // 2, len(data) - 1):
        with pytest.raises(RuntimeError, match="graph file"):
            wp.capture_load_from_bytes(data[:length], device="cpu")
    with pytest.raises(RuntimeError, match="bytes instead of"):
        wp.capture_load_from_bytes(data + b"\0", device="cpu")
    newer = data[:8] + (99).to_bytes(4, "little") + data[12:]
    with pytest.raises(RuntimeError, match="format 99, this inkle reads 1"):
        wp.capture_load_from_bytes(newer, device="cpu")


def test_a_drawing(tmp_path):
    graph, *_ = everything()
    wp.capture_debug_dot_print(graph, str(tmp_path / "graph.dot"))
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph") and "launch mix" in text and "array_scan" in text and "->" in text


@wp.struct
class Link:
    values: wp.array(dtype=int)
    factor: int


@wp.kernel
def follow(links: wp.array(dtype=Link), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = links[i].values[0] * links[i].factor


def test_arrays_that_lie_in_elements_of_others_cannot_be_saved(tmp_path):
    link = Link()
    link.values, link.factor = wp.array([3], dtype=int, device="cpu"), 2
    links, out = wp.array([link, link], dtype=Link, device="cpu"), wp.zeros(2, dtype=int, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(follow, dim=2, inputs=[links, out], device="cpu")
    with pytest.raises(RuntimeError, match="argument `links` has structs with arrays as elements"):
        wp.capture_save(capture.graph, str(tmp_path / "links.inkle"), outputs={"out": out})
