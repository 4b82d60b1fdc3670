"""`Kernel.array_access`: what kernels may do with the arrays among their arguments."""

from typing import Any

import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp has no Kernel.array_access")


@wp.struct
class State:
    position: wp.array(dtype=wp.vec3)
    speed: wp.array(dtype=float)
    mass: float


@wp.func
def largest(values: wp.array2d(dtype=float), row: int):
    best = values[row, 0]
    for j in range(1, values.shape[1]):
        best = wp.max(best, values[row, j])
    return best


@wp.func
def increase(cell: wp.array(dtype=float), by: float):
    cell[0] += by


@wp.kernel
def uses(
    read: wp.array2d(dtype=float),
    written: wp.array(dtype=float),
    counted: wp.array(dtype=int),
    changed: wp.array(dtype=float),
    measured: wp.array(dtype=float),
    state: State,
):
    i = wp.tid()
    written[i] = largest(read, i)
    wp.atomic_add(counted, 0, 1)
    increase(changed, 2.0)
    state.position[i] = wp.vec3(float(measured.shape[0]))
    if state.speed[i] > state.mass:
        return
    state.speed[i] = 0.0


@wp.kernel
def through_lists(a: wp.indexedarray(dtype=float), b: wp.fabricarray(dtype=float), c: wp.fabricarray(dtype=float)):
    i = wp.tid()
    c[i] = a[i] * b[i]


@wp.kernel
def component(a: wp.array(dtype=wp.mat33), b: wp.array2d(dtype=wp.vec3)):
    i = wp.tid()
    row = b[i]
    for j in range(row.shape[0]):
        row[j][1] = a[i][j, 0]


@wp.kernel
def generic(a: wp.array(dtype=Any), b: wp.array(dtype=Any)):
    a[wp.tid()] += b[wp.tid()]


@wp.func_native("""x[0] = 1.0f;""")
def snippet(x: wp.array(dtype=float)): ...


@wp.kernel
def native(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    snippet(x)


def test_reads_and_writes_are_told_apart():
    assert uses.array_access() == {
        "read": "r",
        "written": "w",
        "counted": "rw",
        "changed": "rw",
        "measured": "",
        "state.position": "w",
        "state.speed": "rw",
    }


def test_lists_and_buckets_are_read_to_get_at_elements():
    assert through_lists.array_access() == {"a": "r", "b": "r", "c": "rw"}


def test_a_component_is_part_of_its_element():
    assert component.array_access()["a"] == "r"
    assert "w" in component.array_access()["b"]


def test_a_generic_kernel_needs_arguments():
    with pytest.raises(TypeError, match="kernel `generic` is generic: give the arguments of a launch as `inputs`"):
        generic.array_access()
    numbers = wp.zeros(1, dtype=wp.float64)
    assert generic.array_access([numbers, numbers]) == {"a": "rw", "b": "r"}


def test_native_code_may_do_anything():
    assert native.array_access() == {"x": "rw", "y": ""}


def test_a_kernel_with_a_mistake_has_none():
    @wp.kernel
    def wrong(x: wp.array(dtype=float)):
        x[0] = missing  # noqa: F821

    with pytest.raises(wp.CompileError, match="missing"):
        wrong.array_access()


def test_code_compiled_ahead_of_time_keeps_it(tmp_path):
    @wp.kernel(module="unique")
    def scale(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        y[wp.tid()] = 2.0 * x[wp.tid()]

    wp.compile_aot_module(scale.module, device="cpu", module_dir=tmp_path)
    wp.load_aot_module(scale.module, device="cpu", module_dir=tmp_path)
    assert scale.array_access() == {"x": "r", "y": "w"}
    out = wp.zeros(2, dtype=float, device="cpu")
    wp.launch(scale, 2, [wp.array([1.0, 2.0], dtype=float, device="cpu"), out], device="cpu")
    np.testing.assert_allclose(out.numpy(), [2.0, 4.0])


@wp.kernel
def sum_into(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    out[wp.tid()] = x[wp.tid()]


@wp.kernel
def double(x: wp.array(dtype=float)):
    x[wp.tid()] *= 2.0


def test_in_a_graph_launches_that_only_read_the_same_array_do_not_wait_for_each_other(tmp_path, device):
    x, a, b = (wp.zeros(4, dtype=float, device=device) for _ in range(3))
    with wp.ScopedCapture(device=device) as capture:
        wp.launch(sum_into, 4, [x], [a], device=device)
        wp.launch(sum_into, 4, [x], [b], device=device)
        wp.launch(double, 4, [x], device=device)
    path = tmp_path / "graph.dot"
    wp.capture_debug_dot_print(capture.graph, str(path))
    edges = [line.split("->") for line in path.read_text().splitlines() if "->" in line]
    assert len(edges) == 2
    assert len({edge[1].split()[0].strip(" ;") for edge in edges}) == 1
