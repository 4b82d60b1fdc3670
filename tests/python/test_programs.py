"""What programs written for Warp reach for around their kernels: annotations as data, names inside Warp, tools."""

import enum
import os
import subprocess
import sys
import typing

import pytest
from _wp import MODULE, wp


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


def test_an_import_of_everything_brings_the_types():
    names = {}
    exec(f"from {MODULE} import *", names)
    stems = ["vec2", "vec3", "vec4", "mat22", "mat33", "mat44", "quat", "transform", "spatial_vector", "spatial_matrix"]
    types = [stem + letter for stem in stems for letter in ("", "h", "f", "d")]
    types += ["vec3i", "vec2ub", "vec4ul", "handle"]
    types += ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16"]
    types += ["float32", "float64", "Float", "Int", "Scalar", "DeviceLike"]
    assert [name for name in types if names.get(name) is not getattr(wp, name)] == []
    assert "print" not in names and "len" not in names
    assert set(types) <= set(dir(wp))


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


class Kind(enum.IntEnum):
    FREE = 0
    HINGE = 3


class Kinds:
    kind = Kind


@wp.kernel
def enums(which: int, out: wp.array(dtype=int)):
    if which == Kind.HINGE:
        out[0] = 1
    if which == Kind.HINGE.value:
        out[1] = 1
    if which == int(Kinds.kind.HINGE.value):
        out[2] = 1


def test_members_of_enumerations_have_values(device):
    out = wp.zeros(3, dtype=int, device=device)
    wp.launch(enums, dim=1, inputs=[3, out], device=device)
    assert out.numpy().tolist() == [1, 1, 1]


@wp.func
def halves(x: float) -> typing.Tuple[float, float]:  # noqa: UP006
    return x, 0.5 * x


@wp.kernel
def typing_tuple(out: wp.array(dtype=float)):
    a, b = halves(4.0)
    out[0] = a
    out[1] = b


def test_results_annotated_with_the_typing_module(device):
    out = wp.zeros(2, dtype=float, device=device)
    wp.launch(typing_tuple, dim=1, inputs=[out], device=device)
    assert out.numpy().tolist() == [4.0, 2.0]


@wp.kernel
def correlated(wet: bool, dry: bool, out: wp.array(dtype=float)):
    if wet or dry:
        x = 7.0
    if wet:
        out[0] = x


class Listener:
    def __init__(self):
        self.warnings = []

    def debug(self, message):
        pass

    info = error = debug

    def warning(self, message, category=None, stacklevel=1):
        self.warnings.append(message)


def test_a_read_that_depends_on_a_condition_is_a_warning(device):
    listener = Listener()
    out = wp.zeros(1, dtype=float, device=device)
    with wp.ScopedLogger(listener):
        wp.launch(correlated, dim=1, inputs=[True, False, out], device=device)
    assert out.numpy().tolist() == [7.0]
    if listener.warnings:  # The kernel is built once, for the first device.
        assert len(listener.warnings) == 1
        assert "variable `x` may be read before it is set" in listener.warnings[0]


def test_warnings_come_once():
    listener = Listener()

    @wp.kernel
    def doubtful(n: int, out: wp.array(dtype=float)):
        if n > 1:
            y = 1.0
        if n > 2:
            out[0] = y
            out[1] = y

    out = wp.zeros(2, dtype=float, device="cpu")
    with wp.ScopedLogger(listener):
        for n in (0, 3):
            wp.launch(doubtful, dim=1, inputs=[n, out], device="cpu")
    assert [w.splitlines()[0] for w in listener.warnings] == [
        "warning[F003]: variable `y` may be read before it is set"
    ]
    assert out.numpy().tolist() == [1.0, 1.0]


def test_a_read_without_a_value_is_reported_in_debug_mode(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import inkle as wp\n"
        "wp.config.mode = 'debug'\n"
        "@wp.kernel\n"
        "def k(n: int, out: wp.array(dtype=float)):\n"
        "    if n > 1:\n"
        "        y = 1.0\n"
        "    if n > 0:\n"
        "        out[0] = y\n"
        "out = wp.zeros(1, dtype=float, device='cpu')\n"
        "wp.launch(k, dim=1, inputs=[2, out], device='cpu')\n"
        "print(out.numpy()[0], flush=True)\n"
        "wp.launch(k, dim=1, inputs=[1, out], device='cpu')\n"
        "print('not reached')\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert "1.0" in done.stdout.splitlines(), done.stderr
    assert "not reached" not in done.stdout
    assert "variable `y` is read before it is set" in done.stdout + done.stderr
    assert "program.py:8" in done.stdout + done.stderr


@wp.kernel
def described(n: int, a: wp.array(dtype=float), b: wp.array2d(dtype=typing.Any), v: wp.vec3):
    i = wp.tid()
    a[i] = float(n) + v[0]


def test_a_kernel_knows_its_parameters():
    args = described.adj.args
    assert [arg.label for arg in args] == ["n", "a", "b", "v"]
    assert args[0].type is wp.int32
    assert args[3].type is wp.vec3
    assert [wp.types.is_array(arg.type) for arg in args] == [False, True, True, False]
    assert (args[1].type.ndim, args[1].type.dtype) == (1, wp.float32)
    assert (args[2].type.ndim, args[2].type.dtype) == (2, typing.Any)
    assert described.adj.func.__name__ == "described"


def test_programs_of_an_installed_warp_import_inkle(tmp_path):
    package = tmp_path / "warp"
    (package / "examples").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('this is Warp itself')\n")
    (package / "examples" / "__init__.py").write_text("import warp as wp\nNAME = wp.__name__\n")
    (package / "examples" / "one.py").write_text("from warp.examples import NAME\n")
    code = (
        "from inkle.run import install_alias; install_alias()\n"
        "import warp.examples.one, warp.examples\n"
        "print(warp.__name__, warp.examples.one.NAME, warp.examples.__file__)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.split()[:2] == ["inkle", "inkle"], done.stderr
    assert str(package) in done.stdout


def test_without_an_installed_warp_its_programs_are_missing(tmp_path):
    code = "from inkle.run import install_alias; install_alias(); import warp.examples"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    import inkle

    root = os.path.dirname(os.path.dirname(inkle.__file__))
    code = f"import sys; sys.path.insert(0, {root!r}); " + code
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True)
    assert "package is not installed" in done.stderr
