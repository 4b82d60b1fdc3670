"""Modules compiled ahead of time: for several targets, without a GPU, loaded where kernel bodies are absent."""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from _support import differs_from_warp, load
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: it needs a GPU or NVRTC, and names files its own way")

SOURCE = """
@wp.struct
class Range:
    low: float
    high: float

@wp.func
def squeeze(x: float, r: Range):
    return wp.clamp(x, r.low, r.high)

@wp.kernel
def limit(x: wp.array(dtype=float), r: Range, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = squeeze(x[i], r) * 2.0

@wp.kernel
def count(out: wp.array(dtype=int)):
    wp.atomic_add(out, 0, 1)
"""

# The same without the kernels' bodies.
ABSENT = re.sub(r"(def (?:limit|count)\(.*\):\n)(?:    .*\n)+", r"\1    pass\n", SOURCE)
assert ABSENT.count("pass") == 2


@pytest.fixture
def module(tmp_path):
    return load(tmp_path, SOURCE)


def cpu_flags():
    """The features of this machine's processor, as Linux names those of x86."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    return next((line.split() for line in lines if line.startswith("flags")), [])


def check(module, device="cpu"):
    """Launches the module's kernels and checks what they give."""
    x = wp.array([-1.0, 0.25, 7.0], dtype=float, device=device)
    y = wp.zeros(3, dtype=float, device=device)
    bounds = module.Range()
    bounds.low, bounds.high = 0.0, 1.0
    wp.launch(module.limit, dim=3, inputs=[x, bounds], outputs=[y], device=device)
    assert y.numpy().tolist() == [0.0, 0.5, 2.0]
    # Every other element: code for arrays that lie anywhere.
    x = wp.array(np.arange(6, dtype=np.float32), device=device)
    y = wp.zeros(6, dtype=float, device=device)
    wp.launch(module.limit, dim=3, inputs=[x[::2], bounds], outputs=[y[::2]], device=device)
    assert y.numpy().tolist() == [0.0, 0.0, 2.0, 0.0, 2.0, 0.0]
    out = wp.zeros(1, dtype=int, device=device)
    wp.launch(module.count, dim=1000, outputs=[out], device=device)
    assert out.numpy().tolist() == [1000]


def statistics():
    from inkle._native import compile_statistics

    return compile_statistics()


def compiled():
    return statistics()[0]


def test_code_is_made_for_several_targets_at_once_without_a_gpu(module, tmp_path):
    archs = wp.get_cuda_supported_archs()
    assert {75, 80, 86, 89, 90, 100, 120} <= set(archs)
    folder = tmp_path / "out"
    paths = wp.compile_aot_module(module, arch=[*archs, "x86_64", "aarch64", "x86-64-v3"], module_dir=folder)
    name = wp.get_module(module.__name__).get_module_identifier()
    assert re.fullmatch(rf"wp_{module.__name__}_[0-9a-f]{{7}}", name)
    wanted = [*(f"sm{a}.ptx" for a in archs), "x86_64.o", "aarch64.o", "x86-64-v3.o"]
    assert paths == [folder / f"{name}.{end}" for end in wanted]
    assert sorted(folder.iterdir()) == sorted(paths)
    for arch, path in zip(archs, paths):
        data = path.read_bytes()
        assert b".version" in data and f".target sm_{arch}".encode() in data
    # The machine of an ELF object stands at byte 18: 62 is x86-64, 183 is AArch64.
    for path, machine in zip(paths[-3:], (62, 183, 62)):
        objects = [m.start() for m in re.finditer(b"\x7fELF\x02\x01", path.read_bytes())]
        assert len(objects) == 4 and all(path.read_bytes()[o + 18] == machine for o in objects)


@pytest.mark.parametrize("arch", [75, 80, 86, 89, 90, 100, 120])
def test_machine_code_is_made_without_a_gpu(module, tmp_path, arch):
    pytest.importorskip("nvidia.cu13", reason="nvJitLink is not installed")
    (path,) = wp.compile_aot_module(module, arch=f"sm_{arch}", module_dir=tmp_path / "out", use_ptx=False)
    assert path.name.endswith(f".sm{arch}.cubin")
    # ELF for NVIDIA GPUs: machine 190.
    data = path.read_bytes()
    images = [m.start() for m in re.finditer(b"\x7fELF\x02\x01", data)]
    assert images and all(data[o + 18] == 190 for o in images)


def test_loaded_code_runs_and_nothing_is_compiled(module, tmp_path, device):
    wp.compile_aot_module(module, device, module_dir=tmp_path / "out")
    before = statistics()
    wp.load_aot_module(module, device, module_dir=tmp_path / "out")
    check(module, device)
    assert statistics() == before


def test_the_default_folder_lies_in_the_kernel_cache(module, device):
    (path,) = wp.compile_aot_module(module, device)
    from inkle._native import kernel_cache_dir

    assert path.parent.parent == pathlib.Path(kernel_cache_dir())
    wp.load_aot_module(module.__name__, device)
    check(module, device)


def test_a_second_run_compiles_and_writes_nothing(module, tmp_path):
    folder = tmp_path / "out"
    targets = ["x86_64", "aarch64", 75, 90]
    paths = wp.compile_aot_module(module, arch=targets, module_dir=folder)
    for path in paths:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    before = statistics()
    assert wp.compile_aot_module(module, arch=targets, module_dir=folder) == paths
    # Not even the kernel cache is asked.
    assert statistics() == before
    assert [p.stat().st_mtime for p in paths] == [1_000_000_000] * len(paths)


def test_without_the_cache_files_are_made_anew(module, tmp_path, monkeypatch):
    (path,) = wp.compile_aot_module(module, arch=90, module_dir=tmp_path)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr(wp.config, "cache_kernels", False)
    before = compiled()
    wp.compile_aot_module(module, arch=90, module_dir=tmp_path)
    assert compiled() > before
    assert path.stat().st_mtime > 1_000_000_000


def reload(module, text):
    path = pathlib.Path(module.__file__)
    path.write_text(path.read_text().split("\n\n")[0] + "\n\n" + text)
    os.utime(path, (path.stat().st_mtime + 5, path.stat().st_mtime + 5))
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location(module.__name__, path)
    fresh = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = fresh
    spec.loader.exec_module(fresh)
    return fresh


def test_only_what_changed_is_compiled(module, tmp_path, monkeypatch):
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path / "cache"))
    wp.compile_aot_module(module, arch=[80, "aarch64"], module_dir=tmp_path, strip_hash=True)
    before = compiled()
    module = reload(module, SOURCE.replace("atomic_add(out, 0, 1)", "atomic_add(out, 0, 2)"))
    wp.compile_aot_module(module, arch=[80, "aarch64"], module_dir=tmp_path, strip_hash=True)
    # Two variants of the changed kernel on each target.
    assert compiled() - before == 4


def test_bodies_may_be_absent_where_the_hash_is_stripped(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    module = reload(module, ABSENT)
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    check(module)
    assert wp.get_module_options(module)["strip_hash"] is True


def captured(module):
    """A graph that launches the module's kernel, and its arrays."""
    x, y = (wp.zeros(3, dtype=float, device="cpu") for _ in range(2))
    bounds = module.Range()
    bounds.low, bounds.high = 0.0, 1.0
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(module.limit, dim=3, inputs=[x, bounds], outputs=[y], device="cpu")
    return capture.graph, {"x": x}, {"y": y}


def check_graph(graph):
    graph.set_param("x", wp.array([-1.0, 0.25, 7.0], dtype=float, device="cpu"))
    wp.capture_launch(graph)
    y = wp.zeros(3, dtype=float, device="cpu")
    graph.get_param("y", y)
    assert y.numpy().tolist() == [0.0, 0.5, 2.0]


def inspected(path):
    command = [sys.executable, "-m", "inkle", "inspect", str(path), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_a_graph_of_loaded_code_is_saved_with_code_for_every_machine(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out")
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    graph, inputs, outputs = captured(module)
    wp.capture_save(graph, tmp_path / "g.wrp", inputs=inputs, outputs=outputs)
    check_graph(wp.capture_load(tmp_path / "g.wrp", device="cpu"))
    found = inspected(tmp_path / "g.wrp")
    assert {code["target"] for code in found["code"]} == {"x86-64-v2", "x86-64-v3", "aarch64", "compute_75"}
    assert all(kernel["ir_bytes"] > 0 for kernel in found["kernels"])


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="levels are those of x86-64")
def test_a_graph_of_absent_bodies_is_saved_with_the_code_of_the_files_that_are_there(module, tmp_path):
    archs = ["x86-64-v2", "aarch64", 80]
    wp.compile_aot_module(module, arch=archs, module_dir=tmp_path / "out", strip_hash=True)
    module = reload(module, ABSENT)
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    graph, inputs, outputs = captured(module)
    wp.capture_save(graph, tmp_path / "g.wrp", inputs=inputs, outputs=outputs, targets=["compute_80"])
    check_graph(wp.capture_load(tmp_path / "g.wrp", device="cpu"))
    found = inspected(tmp_path / "g.wrp")
    assert {code["target"] for code in found["code"]} == {"x86-64-v2", "aarch64", "compute_80"}
    assert all(kernel["ir_bytes"] == 0 for kernel in found["kernels"])
    assert any("x86-64-v3" in note and "compile_aot_module" in note for note in found["notes"])
    with pytest.raises(RuntimeError, match=r"sm_90.*its body is not in this program.*sm90\.cubin"):
        wp.capture_save(graph, tmp_path / "h.wrp", targets=["sm_90"])


def test_a_graph_of_absent_bodies_and_code_for_this_very_cpu_is_not_saved(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    module = reload(module, ABSENT)
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    graph, *_ = captured(module)
    with pytest.raises(RuntimeError, match="`limit`.*any target.*body is not in this program.*`arch`"):
        wp.capture_save(graph, tmp_path / "g.wrp")


DIFFERENTIABLE = """
@wp.kernel(enable_backward=True)
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]
"""


def backward(module):
    """The gradient of `square` at 3."""
    x = wp.array([3.0], dtype=float, device="cpu", requires_grad=True)
    y = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
    y.grad.fill_(1.0)
    wp.launch(
        module.square, 1, inputs=[x], outputs=[y], adj_inputs=[x.grad], adj_outputs=[y.grad], device="cpu", adjoint=True
    )
    return x.grad.numpy()[0]


def test_the_backward_pass_is_made_from_the_source_where_that_is_what_was_compiled(tmp_path):
    module = load(tmp_path, DIFFERENTIABLE)
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    assert backward(module) == 6.0
    module = reload(module, DIFFERENTIABLE.replace("y[i] = x[i] * x[i]", "pass"))
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    with pytest.raises(RuntimeError, match="not for a backward pass"):
        backward(module)


def test_with_the_hash_other_bodies_are_not_found(module, tmp_path):
    (path,) = wp.compile_aot_module(module, "cpu", module_dir=tmp_path)
    module = reload(module, SOURCE.replace("* 2.0", "* 3.0"))
    with pytest.raises(FileNotFoundError) as error:
        wp.load_aot_module(module, "cpu", module_dir=tmp_path)
    assert str(path) in str(error.value) and "strip_hash" in str(error.value)


def test_a_kernel_that_is_defined_again_is_compiled(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    module = reload(module, SOURCE.replace("* 2.0", "* 3.0"))
    x, y = wp.array([0.5], dtype=float, device="cpu"), wp.zeros(1, dtype=float, device="cpu")
    bounds = module.Range()
    bounds.low, bounds.high = 0.0, 1.0
    wp.launch(module.limit, dim=1, inputs=[x, bounds], outputs=[y], device="cpu")
    assert y.numpy()[0] == 1.5


def test_unload_forgets_the_loaded_code(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    module = reload(module, SOURCE.replace("atomic_add(out, 0, 1)", "atomic_add(out, 0, 5)"))
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    out = wp.zeros(1, dtype=int, device="cpu")
    wp.launch(module.count, dim=1, outputs=[out], device="cpu")
    assert out.numpy()[0] == 1
    wp.get_module(module.__name__).unload()
    wp.launch(module.count, dim=1, outputs=[out], device="cpu")
    assert out.numpy()[0] == 6


def test_other_parameters_are_refused(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    module = reload(module, SOURCE.replace("    high: float\n", "    high: float\n    extra: float\n"))
    with pytest.raises(RuntimeError, match=r"no kernel `limit\(.*extra") as error:
        wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    assert "limit(array<f32, 1>, struct" in str(error.value)


def test_a_kernel_that_the_file_lacks_is_named(module, tmp_path):
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)
    module = reload(module, SOURCE + "\n@wp.kernel\ndef later(out: wp.array(dtype=int)):\n    out[0] = 1\n")
    with pytest.raises(RuntimeError, match="no kernel `later"):
        wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")


def test_a_missing_file_is_named_with_those_that_are_there(module, tmp_path):
    (path,) = wp.compile_aot_module(module, arch=90, module_dir=tmp_path)
    with pytest.raises(FileNotFoundError) as error:
        wp.load_aot_module(module, "cpu", module_dir=tmp_path)
    message = str(error.value)
    assert str(path) in message and module.__name__ in message and "this CPU" in message
    with pytest.raises(FileNotFoundError, match="no file of this module"):
        wp.load_aot_module(module, "cpu", module_dir=tmp_path / "nowhere")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the other machine of this test is aarch64")
def test_code_for_another_machine_is_refused(module, tmp_path):
    (path,) = wp.compile_aot_module(module, arch="aarch64", module_dir=tmp_path)
    with pytest.raises(RuntimeError, match="aarch64 generic.*x86_64"):
        wp.load_aot_module(module, "cpu", arch="aarch64", module_dir=tmp_path)
    path.rename(str(path).replace(".aarch64.o", ".o"))
    with pytest.raises(FileNotFoundError, match=r"holds code for aarch64 generic; here is x86_64.*lacks aarch64"):
        wp.load_aot_module(module, "cpu", module_dir=tmp_path)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="levels are those of x86-64")
def test_code_for_any_cpu_of_the_family_is_found(module, tmp_path):
    wp.compile_aot_module(module, arch=["x86_64"], module_dir=tmp_path)
    wp.load_aot_module(module, "cpu", module_dir=tmp_path)
    check(module)


@pytest.mark.skipif("avx2" not in cpu_flags(), reason="this machine has one level of x86-64")
def test_the_best_level_that_this_machine_has_is_loaded(module, tmp_path):
    low, high = wp.compile_aot_module(module, arch=["x86_64", "x86-64-v3"], module_dir=tmp_path)
    # A file that is not read may be damaged.
    low.write_bytes(low.read_bytes()[:100])
    wp.load_aot_module(module, "cpu", module_dir=tmp_path)
    check(module)
    high.write_bytes(high.read_bytes()[:100])
    with pytest.raises(RuntimeError, match="v3.*damaged"):
        wp.load_aot_module(module, "cpu", module_dir=tmp_path)


def test_a_gpu_target_is_not_loaded_on_the_cpu(module, tmp_path):
    wp.compile_aot_module(module, arch=90, module_dir=tmp_path)
    with pytest.raises(RuntimeError, match=r"holds code for sm_90 \(PTX\); wanted is code for a CPU"):
        wp.load_aot_module(module, "cpu", arch=90, module_dir=tmp_path)


def test_unknown_targets_are_refused_with_the_known_ones(module, tmp_path):
    for arch in (42, "sm_42", "pdp11"):
        with pytest.raises(RuntimeError, match=f"{arch}.*sm_90.*aarch64"):
            wp.compile_aot_module(module, arch=arch, module_dir=tmp_path)
    with pytest.raises(TypeError, match="compute capability"):
        wp.compile_aot_module(module, arch=[1.5], module_dir=tmp_path)
    with pytest.raises(TypeError):
        wp.compile_aot_module(3.0)
    assert not any(tmp_path.glob("wp_*"))


def test_damaged_files_are_refused(module, tmp_path):
    (path,) = wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out")
    whole = path.read_bytes()
    for keep in (0, 7, 12, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:keep])
        with pytest.raises(RuntimeError, match="damaged"):
            wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    for place in (0, 20, 60, len(whole) // 2, len(whole) - 1):
        flipped = bytearray(whole)
        flipped[place] ^= 4
        path.write_bytes(bytes(flipped))
        with pytest.raises(RuntimeError, match="damaged"):
            wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    path.write_bytes(whole[:8] + b"\x63" + whole[9:])
    with pytest.raises(RuntimeError, match="format 99"):
        wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    # Compiling replaces it.
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out")
    assert path.read_bytes() == whole


GENERIC = """
@wp.kernel
def scale(x: wp.array(dtype=Any), s: Any):
    i = wp.tid()
    x[i] = s * x[i]
"""


def test_generic_kernels_are_compiled_for_their_overloads(tmp_path):
    text = GENERIC + "single = wp.overload(scale, [wp.array(dtype=float), float])\n"
    text += "double = wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])\n"
    module = load(tmp_path, text)
    wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out")
    before = statistics()
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    for kernel in (module.double, module.scale):
        x = wp.array([1.0, 2.0], dtype=wp.float64, device="cpu")
        wp.launch(kernel, dim=2, inputs=[x, wp.float64(3.0)], device="cpu")
        assert x.numpy().tolist() == [3.0, 6.0]
    assert statistics() == before
    with pytest.raises(RuntimeError, match="multiple overloads"):
        wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out", strip_hash=True)


def test_generic_kernels_without_overloads_are_left_out_with_a_warning(tmp_path, capsys):
    with pytest.raises(RuntimeError, match="No compilable kernels"):
        wp.compile_aot_module(load(tmp_path, GENERIC), "cpu", module_dir=tmp_path / "out")
    module = load(tmp_path, GENERIC + SOURCE)
    with pytest.warns(UserWarning, match="without overloads.*scale"):
        wp.compile_aot_module(module, "cpu", module_dir=tmp_path / "out")
    wp.load_aot_module(module, "cpu", module_dir=tmp_path / "out")
    check(module)


def test_an_option_changes_the_hash(module):
    before = wp.get_module(module.__name__).get_module_identifier()
    wp.set_module_options({"fast_math": True}, module)
    assert wp.get_module(module.__name__).get_module_identifier() != before


def test_a_setting_of_the_process_changes_the_name_of_the_file(module, tmp_path, monkeypatch):
    (first,) = wp.compile_aot_module(module, "cpu", module_dir=tmp_path)
    monkeypatch.setattr(wp.config, "verify_fp", True)
    (second,) = wp.compile_aot_module(module, "cpu", module_dir=tmp_path)
    assert first != second and second.name.startswith(wp.get_module(module.__name__).get_module_identifier())


def test_other_devices_compile_as_usual(module, tmp_path, cuda_device):
    wp.compile_aot_module(module, cuda_device, module_dir=tmp_path / "out")
    wp.load_aot_module(module, cuda_device, module_dir=tmp_path / "out")
    check(module, cuda_device)
    check(module, "cpu")


def test_older_ptx_serves_a_newer_gpu(module, tmp_path, cuda_device):
    wp.compile_aot_module(module, arch=75, module_dir=tmp_path / "out")
    wp.load_aot_module(module, cuda_device, module_dir=tmp_path / "out")
    check(module, cuda_device)


@differs_from_warp("the files are inkle's own")
def test_a_program_in_another_process_compiles_nothing(tmp_path):
    (tmp_path / "kernels.py").write_text("import inkle as wp\n" + SOURCE)
    common = "import json, sys, kernels, inkle as wp\nfrom inkle._native import compile_statistics\n"
    build = (
        common + "print(json.dumps([str(p) for p in wp.compile_aot_module(kernels, 'cpu', module_dir=sys.argv[1])]))"
    )
    use = (
        common
        + """
wp.load_aot_module(kernels, "cpu", module_dir=sys.argv[1])
out = wp.zeros(1, dtype=int, device="cpu")
wp.launch(kernels.count, dim=10, outputs=[out], device="cpu")
print(json.dumps([compile_statistics(), out.numpy().tolist()]))
"""
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c"]
    root = tmp_path / "cache"
    made = subprocess.run([*command, build, tmp_path / "out"], env=env, capture_output=True, text=True, check=True)
    assert len(json.loads(made.stdout)) == 1
    env["INKLE_CACHE_PATH"] = str(root)
    used = subprocess.run([*command, use, tmp_path / "out"], env=env, capture_output=True, text=True)
    assert used.returncode == 0, used.stderr
    assert json.loads(used.stdout) == [[0, 0, 0], [10]]
    assert not list(root.rglob("*.ink"))
