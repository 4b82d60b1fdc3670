"""What programs written for Warp reach for around their kernels: annotations as data, names inside Warp, tools."""

import os
import subprocess
import sys

import pytest
from _wp import wp


@wp.kernel
def double(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 2.0 * a[i]


def test_an_annotation_keeps_the_shape_it_is_given():
    spec = wp.array(dtype=float, ndim=2)
    assert spec.shape == (0, 0)
    spec.shape = ("nworld", 3)
    assert spec.shape == ("nworld", 3)
    assert isinstance(spec, wp.array)
    assert spec.ndim == 2


def test_the_shape_of_an_array_with_elements_is_fixed():
    a = wp.zeros(4, dtype=float)
    with pytest.raises(AttributeError, match="reshape"):
        a.shape = (2, 2)
    assert a.shape == (4,)


def test_annotations_name_types_that_are_not_available_yet():
    spec = wp.array(dtype=wp.Texture2D, ndim=1)
    assert "Texture2D" in repr(spec)
    assert "Texture2D" in str(wp.array[wp.Texture2D])


def test_a_kernel_with_a_parameter_that_is_not_available_is_refused_by_name():
    @wp.kernel
    def sample(textures: wp.array(dtype=wp.Texture2D), out: wp.array(dtype=float)):
        out[0] = 1.0

    with pytest.raises(wp.CompileError, match="Texture2D"):
        wp.launch(sample, dim=1, inputs=[None, wp.zeros(1, dtype=float, device="cpu")], device="cpu")


def test_looking_for_a_name_in_what_is_not_available_ends():
    from inkle._planned import Absent, AbsentError

    with pytest.raises(AbsentError, match="somewhere"):
        assert "name" in Absent("somewhere")
    with pytest.raises(AbsentError, match="somewhere"):
        list(Absent("somewhere"))


def test_the_table_of_builtins_has_those_that_exist():
    from inkle._src.context import builtin_functions

    assert "dot" in builtin_functions
    assert "no_such_function" not in builtin_functions


def test_suggested_block_size(device):
    block_size, grid_size = wp.get_suggested_block_size(double, device)
    if wp.get_device(device).is_cpu:
        assert (block_size, grid_size) == (1, 1)
    else:
        assert block_size % 32 == 0 and 32 <= block_size <= 1024
        assert grid_size >= 1


def test_checking_does_not_compile():
    from inkle import _native

    before = _native.compile_statistics()

    @wp.kernel
    def right(a: wp.array(dtype=float), x: float):
        a[wp.tid()] = x + 0.123

    _native.check_kernel(right)
    assert _native.compile_statistics() == before
    assert "kernel @right" in _native.kernel_ir(right)
    _native.load_kernel(right, "cpu")
    assert _native.compile_statistics() != before


def test_checking_reports_mistakes():
    from inkle import _native

    @wp.kernel
    def wrong(a: wp.array(dtype=float)):
        a[0] = missing  # noqa: F821

    with pytest.raises(wp.CompileError, match="missing"):
        _native.check_kernel(wrong)


def test_the_cache_directory_of_the_user(tmp_path):
    code = "from inkle._src.thirdparty.appdirs import user_cache_dir; print(user_cache_dir('newton', version='1'))"
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(tmp_path / "newton" / "1")
