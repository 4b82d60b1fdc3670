"""Generic kernels, wp.overload, kernels made at run time, and `python -m inkle.run`."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from _support import load
from _wp import ON_WARP, wp


@wp.kernel
def scale(a: wp.array(dtype=Any), factor: Any):
    i = wp.tid()
    a[i] = a[i] * factor


def test_overload_for_definite_types(device):
    scale_f64 = wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
    a = wp.array([0.1, 0.2], dtype=wp.float64, device=device)
    wp.launch(scale_f64, dim=2, inputs=[a, 3.0], device=device)
    np.testing.assert_allclose(a.numpy(), [0.1 * 3.0, 0.2 * 3.0], rtol=1e-15)


def test_generic_kernel_goes_by_its_arguments(device):
    a = wp.array([1, 2], dtype=int, device=device)
    wp.launch(scale, dim=2, inputs=[a, 5], device=device)
    np.testing.assert_array_equal(a.numpy(), [5, 10])


@wp.kernel
def chosen(a: Any, out: wp.array(dtype=int)):
    out[0] = 1 + len(a)


@wp.overload
def chosen(a: wp.vec2, out: wp.array(dtype=int)):  # noqa: F811 - a decorated overload is declared so
    ...


@wp.overload
def chosen(a: wp.vec3, out: wp.array(dtype=int)):  # noqa: F811
    ...


def test_decorated_overloads_leave_the_kernel_generic(device):
    out = wp.zeros(1, dtype=int, device=device)
    for value, expected in ((wp.vec3(), 4), (wp.vec2(), 3)):
        wp.launch(chosen, dim=1, inputs=[value, out], device=device)
        assert out.numpy()[0] == expected


def test_kernel_made_at_run_time(device):
    def triple(a: wp.array(dtype=float)):
        a[wp.tid()] *= 3.0

    a = wp.array([1.0, 2.0], dtype=float, device=device)
    wp.launch(wp.Kernel(func=triple, key="triple_made"), dim=2, inputs=[a], device=device)
    np.testing.assert_array_equal(a.numpy(), [3.0, 6.0])


@wp.kernel
def bare_names(out: wp.array(dtype=float)):
    expect_eq(1, 1)  # noqa: F821 - kernels know built-ins and types without a prefix
    v = vec3(1.0, 2.0, 2.0)  # noqa: F821
    out[0] = length(v)  # noqa: F821
    out[1] = float(wp.static(len(v) + 1))


def test_names_without_prefix_and_static_lengths(device):
    out = wp.zeros(2, dtype=float, device=device)
    wp.launch(bare_names, dim=1, inputs=[out], device=device)
    np.testing.assert_array_equal(out.numpy(), [3.0, 4.0])


@wp.kernel
def near(tolerance: float):
    wp.expect_near(wp.vec2(1.0, 2.0), wp.vec2(1.0, 2.1), tolerance)


def test_expect_near_says_what_differs(capfd):
    wp.launch(near, dim=1, inputs=[0.5], device="cpu")
    wp.synchronize()
    assert "expect_near" not in capfd.readouterr().out
    wp.launch(near, dim=1, inputs=[0.01], device="cpu")
    wp.synchronize()
    if not ON_WARP:
        assert "expect_near" in capfd.readouterr().out


@pytest.mark.skipif(ON_WARP, reason="inkle.run is inkle's")
def test_program_that_imports_warp(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport warp as wp\nfrom warp.types import vector\n"
        "@wp.kernel\ndef k(a: wp.array(dtype=float)):\n    a[wp.tid()] = 7.0\n"
        "a = wp.zeros(2, dtype=float, device='cpu')\nwp.launch(k, dim=2, inputs=[a], device='cpu')\n"
        "print(wp.__name__, a.numpy().tolist(), sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "inkle.run", str(program), "-x"], capture_output=True, text=True, check=True
    )
    # Before it, a line about the module that was loaded.
    assert done.stdout.splitlines()[-1] == "inkle [7.0, 7.0] ['-x']"


@pytest.mark.skipif(ON_WARP, reason="inkle.run is inkle's")
def test_missing_module_says_what_stands_in():
    code = "from inkle.run import install_alias; install_alias(); import warp.nothing_of_this_name"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "inkle stands in for warp" in done.stderr


def test_overloads_of_a_kernel_with_another_name():
    @wp.kernel(name="renamed_generic_kernel")
    def generic(x: Any, out: wp.array[Any]):
        out[0] = x

    @wp.overload
    def generic(x: float, out: wp.array[float]): ...  # noqa: F811 - an overload of the kernel

    assert generic.key == "renamed_generic_kernel"
    assert len(generic.overloads) == 1
    wp.overload(generic, [wp.int32, wp.array[wp.int32]])
    assert [overload.key for overload in generic.overloads.values()] == ["renamed_generic_kernel"] * 2
    out = wp.zeros(1, dtype=int, device="cpu")
    wp.launch(list(generic.overloads.values())[1], dim=1, inputs=[7, out], device="cpu")
    assert out.numpy()[0] == 7


def test_an_overload_of_two_kernels_of_one_function():
    def shared(x: Any):
        pass

    kernels = [wp.kernel(name=name)(shared) for name in ("shared_a", "shared_b")]
    with pytest.raises(RuntimeError, match="shared_a"):

        @wp.overload
        def shared(x: float): ...

    assert [len(kernel.overloads) for kernel in kernels] == [0, 0]


def test_an_overload_returns_nothing():
    @wp.kernel
    def returning(x: Any):
        pass

    with pytest.raises(TypeError, match="Return annotations"):

        @wp.overload
        def returning(x: float) -> float: ...  # noqa: F811 - an overload of the kernel


def test_an_overload_of_a_kernel_that_only_its_module_has(tmp_path):
    module = load(
        tmp_path,
        """
        from typing import Any

        @wp.kernel
        def doubled(x: wp.array[Any]):
            x[wp.tid()] *= x.dtype(2)

        def doubled(x: wp.array[wp.float64]): ...

        doubled = wp.overload(doubled)
        """,
    )
    x = wp.full(2, 1.5, dtype=wp.float64, device="cpu")
    wp.launch(module.doubled, dim=2, inputs=[x], device="cpu")
    assert x.numpy().tolist() == [3.0, 3.0]
