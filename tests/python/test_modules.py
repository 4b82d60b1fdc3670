"""Modules: which kernels they hold, their options, loading them, what is told about it, and what is compiled again."""

import itertools
import logging
import os
import re
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
from _support import HEADER, differs_from_warp, load
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: it compiles whole modules, at its own pace")

# Two kernels that no other test has: what equal kernels need is in memory already.
TWO = """
    FACTOR = wp.constant({factor})

    @wp.kernel
    def grow(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = x[i] * FACTOR

    @wp.kernel
    def shrink(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = x[i] / FACTOR
"""

_serial = itertools.count()

ENVIRONMENT = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))


def two(decorator="@wp.kernel", after=""):
    """The source of two kernels, with a decorator and with text after them."""
    text = TWO.format(factor=2.0 + next(_serial) / 256.0)
    return text.replace("@wp.kernel", decorator) + textwrap.indent(textwrap.dedent(after), "    ")


def statistics():
    return np.array(wp._native.compile_statistics())


class Compiled:
    """How many kernels were compiled, found in the cache and shared inside a `with` statement."""

    def __enter__(self):
        self.before = statistics()
        return self

    def __exit__(self, *_):
        self.compiled, self.cached, self.shared = (statistics() - self.before).tolist()


@pytest.fixture(autouse=True)
def empty_cache(tmp_path):
    before = wp.config.kernel_cache_dir
    wp.config.kernel_cache_dir = str(tmp_path / "kernel_cache")
    yield
    wp.config.kernel_cache_dir = before


@pytest.fixture
def messages():
    """What is logged, with every level shown that a test asks for by `wp.config.log_level`."""

    class Collected:
        def __init__(self):
            self.lines = []

        def debug(self, message):
            self.lines.append(("debug", message))

        def info(self, message):
            self.lines.append(("info", message))

        def warning(self, message, category=None, stacklevel=1):
            self.lines.append(("warning", message))

        def error(self, message):
            self.lines.append(("error", message))

    collected = Collected()
    wp.set_logger(collected)
    wp.config.quiet = False
    yield collected.lines
    wp.config.quiet = True
    wp.config.verbose = False
    wp.config.log_level = wp.LOG_INFO
    wp.set_logger(None)


# --- which module a kernel is in


def test_kernels_are_grouped_by_python_module(tmp_path):
    source = load(tmp_path, two())
    assert source.grow.module is source.shrink.module is wp.get_module(source.__name__)
    assert set(source.grow.module.kernels) == {"grow", "shrink"}


def test_kernels_are_grouped_by_name(tmp_path):
    source = load(tmp_path, two("@wp.kernel(module='shared_by_name')"))
    assert source.grow.module is source.shrink.module is wp.get_module("shared_by_name")


def test_a_unique_module_holds_one_kernel_and_has_options_of_its_own(tmp_path):
    unique = "@wp.kernel(module='unique', module_options={'fast_math': True})"
    source = load(tmp_path, two(unique))
    assert source.grow.module is not source.shrink.module
    assert source.grow.module.options["fast_math"] is True
    assert wp.get_module(source.__name__).options["fast_math"] is False


def test_module_options_need_a_unique_module(tmp_path):
    with pytest.raises(RuntimeError, match="module_options.*unique"):
        load(tmp_path, two("@wp.kernel(module_options={'fast_math': True})"))


# --- options

DOCUMENTED = (
    "mode optimization_level max_unroll enable_backward fast_math fuse_fp lineinfo compile_time_trace cuda_output"
    " block_dim strip_hash enable_mathdx_gemm enable_mathdx_solver enable_mathdx_fft cpu_compiler_flags deterministic"
    " deterministic_max_records default_grid_stride extra_build_options precise_math"
).split()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_documented_option_can_be_set_and_read(tmp_path, name):
    source = load(tmp_path, two())
    options = wp.get_module_options(source)
    assert name in options
    value = {"mode": "debug", "optimization_level": 1, "cuda_output": "ptx", "max_unroll": 3, "block_dim": 64}.get(name)
    if value is None:
        value = not options[name] if isinstance(options[name], bool) else options[name]
    wp.set_module_options({name: value}, module=source)
    assert wp.get_module_options(source)[name] == value


def test_options_are_set_for_the_calling_module(tmp_path):
    source = load(tmp_path, two(after="wp.set_module_options({'max_unroll': 5})"))
    assert source.grow.module.options["max_unroll"] == 5


def test_unknown_options_are_errors_that_list_the_known_ones(tmp_path):
    source = load(tmp_path, two())
    with pytest.raises(RuntimeError, match="`fastmath` is no module option; the options are .*fast_math"):
        wp.set_module_options({"fastmath": True}, module=source)
    with pytest.raises(RuntimeError, match="`fastmath` is no module option"):
        wp.kernel(module="unique", module_options={"fastmath": True})(lambda: None)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"optimization_level": 7}, "`optimization_level` is a whole number from 0 to 3, not 7"),
        ({"mode": "fast"}, "`mode` is 'release' or 'debug', not 'fast'"),
        ({"block_dim": 0}, "`block_dim` is a whole number from 1 to 1024, not 0"),
        ({"enable_backward": "no"}, "`enable_backward` is True or False, not 'no'"),
    ],
)
def test_wrong_values_are_errors_that_say_what_is_right(tmp_path, options, message):
    source = load(tmp_path, two())
    before = dict(wp.get_module_options(source))
    with pytest.raises(ValueError, match=message):
        wp.set_module_options(options, module=source)
    assert dict(wp.get_module_options(source)) == before
    [(name, value)] = options.items()
    kept = getattr(wp.config, name)
    with pytest.raises(ValueError, match="inkle.config: the option " + message):
        setattr(wp.config, name, value)
    assert getattr(wp.config, name) == kept


CHECKED = """
    @wp.kernel
    def checked(x: wp.array(dtype=float)):
        assert x[0] > 1.0, "too small"
"""


def test_the_more_specific_option_wins(tmp_path):
    """By `enable_backward`, which forbids the backward pass, at each of the three levels."""
    text = """
    @wp.kernel
    def plain(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        y[0] = x[0] * x[0]

    @wp.kernel(enable_backward=True)
    def on(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        y[0] = x[0] * x[0]

    @wp.kernel(enable_backward=False)
    def off(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        y[0] = x[0] * x[0]
    """
    source = load(tmp_path, text)

    def runs_backward(kernel):
        x = wp.array([3.0], dtype=float, device="cpu", requires_grad=True)
        y = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
        y.grad.fill_(1.0)
        try:
            wp.launch(
                kernel,
                dim=1,
                inputs=[x],
                outputs=[y],
                adj_inputs=[None],
                adj_outputs=[None],
                adjoint=True,
                device="cpu",
            )
        except RuntimeError as error:
            assert "enable_backward" in str(error)
            return False
        assert x.grad.numpy().tolist() == [6.0]
        return True

    kernels = (source.plain, source.on, source.off)
    before = wp.config.enable_backward
    try:
        for process, module, expected in [
            (False, None, [False, True, False]),
            (True, None, [True, True, False]),
            (True, False, [False, True, False]),
            (False, True, [True, True, False]),
        ]:
            wp.config.enable_backward = process
            if module is not None:
                wp.set_module_options({"enable_backward": module}, module=source)
            assert [runs_backward(k) for k in kernels] == expected, (process, module)
    finally:
        wp.config.enable_backward = before


def test_backward_code_is_made_at_the_first_backward_launch(tmp_path):
    source = load(tmp_path, two(after="wp.set_module_options({'enable_backward': True})"))
    x = wp.array([3.0], dtype=float, device="cpu", requires_grad=True)
    with Compiled() as forward:
        wp.load_module(source, device="cpu")
    assert forward.compiled == 2
    with Compiled() as backward:
        wp.launch(source.grow, dim=1, inputs=[x], adjoint=True, device="cpu")
    assert backward.compiled == 1


# --- what is compiled again


def test_an_option_takes_effect_at_the_next_launch_and_recompiles_its_module_only(tmp_path):
    one, other = load(tmp_path, two()), load(tmp_path, two())
    x = wp.ones(4, dtype=float, device="cpu")
    for source in (one, other):
        wp.load_module(source, device="cpu")
    wp.set_module_options({"optimization_level": 0}, module=one)
    with Compiled() as count:
        for kernel in (one.grow, one.shrink, other.grow, other.shrink):
            wp.launch(kernel, dim=4, inputs=[x], device="cpu")
    assert (count.compiled, count.cached) == (2, 0)


def test_an_option_that_makes_no_difference_recompiles_nothing(tmp_path):
    text = """
    @wp.kernel
    def count(n: int, out: wp.array(dtype=int)):
        s = int(0)
        for i in range(n):
            s += i
        out[0] = s
    """
    source = load(tmp_path, text)
    wp.load_module(source, device="cpu")
    changes = [{"enable_backward": True}, {"fast_math": True}, {"fuse_fp": False}, {"max_unroll": 2}, {"block_dim": 64}]
    with Compiled() as count:
        for change in [*changes, {"strip_hash": True}, {"cuda_output": "ptx"}, {"compile_time_trace": False}]:
            wp.set_module_options(change, module=source)
            out = wp.zeros(1, dtype=int, device="cpu")
            wp.launch(source.count, dim=1, inputs=[5, out], device="cpu")
            assert out.numpy()[0] == 10
    assert (count.compiled, count.cached) == (0, 0)


def test_a_setting_of_the_process_takes_effect_at_the_next_launch(tmp_path):
    source = load(tmp_path, CHECKED)
    x = wp.zeros(1, dtype=float, device="cpu")
    wp.launch(source.checked, dim=1, inputs=[x], device="cpu")
    wp.config.mode = "debug"
    try:
        with pytest.raises(RuntimeError, match="too small"):
            wp.launch(source.checked, dim=1, inputs=[x], device="cpu")
            wp.synchronize_device("cpu")
    finally:
        wp.config.mode = "release"
    with Compiled() as count:
        wp.launch(source.checked, dim=1, inputs=[x], device="cpu")
    assert count.compiled == 0


def test_unrolling_follows_its_option(tmp_path):
    text = """
    @wp.kernel
    def sums(out: wp.array(dtype=int)):
        s = int(0)
        for i in range(8):
            s += i * i
        out[0] = s
    """
    source = load(tmp_path, text)
    out = wp.zeros(1, dtype=int, device="cpu")
    with Compiled() as count:
        for most in (8, 7):
            wp.set_module_options({"max_unroll": most}, module=source)
            wp.launch(source.sums, dim=1, inputs=[out], device="cpu")
            assert out.numpy()[0] == 140
    assert count.compiled == 2


def test_a_kernel_defined_later_is_compiled_alone(tmp_path):
    source = load(tmp_path, two())
    wp.load_module(source, device="cpu")

    def later(x: wp.array(dtype=float)):
        x[wp.tid()] = 7.0

    kernel = wp.Kernel(later, module=source.grow.module)
    x = wp.ones(1, dtype=float, device="cpu")
    with Compiled() as count:
        wp.load_module(source, device="cpu")
        wp.launch(source.grow, dim=1, inputs=[x], device="cpu")
        wp.launch(kernel, dim=1, inputs=[x], device="cpu")
    assert (count.compiled, count.cached) == (1, 0)
    assert x.numpy()[0] == 7.0


def test_an_identical_redefinition_compiles_nothing(tmp_path):
    text = two()
    source = load(tmp_path, text)
    wp.load_module(source, device="cpu")
    x = wp.ones(1, dtype=float, device="cpu")
    with Compiled() as count:
        # The same text in another file, further down.
        again = load(tmp_path, "\n\n\n" + text)
        wp.launch(again.grow, dim=1, inputs=[x], device="cpu")
        wp.launch(again.shrink, dim=1, inputs=[x], device="cpu")
    assert (count.compiled, count.cached, count.shared) == (0, 0, 2)


REACHING = """
    LIMIT = wp.constant({limit})

    @wp.struct
    class Pair:
        a: float
        {field}: float

    @wp.func
    def helper(v: float):
        return v * {factor}

    @wp.kernel
    def with_helper(x: wp.array(dtype=float)):
        x[0] = helper(x[0])

    @wp.kernel
    def with_constant(x: wp.array(dtype=float)):
        x[0] = x[0] + float(LIMIT)

    @wp.kernel
    def with_struct(x: wp.array(dtype=float), p: Pair):
        x[0] = p.a

    @wp.kernel
    def with_none(x: wp.array(dtype=float)):
        x[0] = x[0] + 1.0
"""
SAME = {"limit": 3, "field": "b", "factor": "2.0"}


@pytest.mark.parametrize(
    "change, recompiled",
    [
        ({}, 0),
        ({"factor": "3.0"}, 1),
        ({"limit": 4}, 1),
        ({"field": "c"}, 1),
        ({"factor": "4.0", "limit": 5}, 2),
    ],
)
def test_a_change_recompiles_exactly_what_reaches_it(tmp_path, change, recompiled):
    wp.load_module(load(tmp_path, REACHING.format(**SAME)), device="cpu")
    with Compiled() as count:
        wp.load_module(load(tmp_path, REACHING.format(**{**SAME, **change})), device="cpu")
    assert (count.compiled, count.cached) == (recompiled, 0)


def test_a_function_defined_again_is_called_from_the_next_launch_on(tmp_path):
    text = """
    @wp.func
    def helper(v: float):
        return v * {first}

    @wp.kernel
    def calls(x: wp.array(dtype=float)):
        x[0] = helper(1.0)

    @wp.kernel
    def does_not(x: wp.array(dtype=float)):
        x[0] = {first} - 1.0
    """
    source = load(tmp_path, text.format(first=3.0 + next(_serial) / 256.0))
    x = wp.zeros(1, dtype=float, device="cpu")
    wp.launch(source.calls, dim=1, inputs=[x], device="cpu")
    wp.launch(source.does_not, dim=1, inputs=[x], device="cpu")
    again = wp.func(source.helper.func, module=source.helper.module)
    assert again is not source.helper
    with Compiled() as count:
        wp.launch(source.calls, dim=1, inputs=[x], device="cpu")
        wp.launch(source.does_not, dim=1, inputs=[x], device="cpu")
    assert (count.compiled, count.cached) == (0, 0)
    exec_again(source, "@wp.func\ndef helper(v: float):\n    return v * 77.25\n", tmp_path / "again.py")
    with Compiled() as count:
        wp.launch(source.calls, dim=1, inputs=[x], device="cpu")
        assert x.numpy()[0] == 77.25
        wp.launch(source.does_not, dim=1, inputs=[x], device="cpu")
    assert (count.compiled, count.cached) == (1, 0)


def test_a_cell_that_is_run_again_changes_what_reaches_its_constants(tmp_path):
    cell = """
        LIMIT = {limit}

        @wp.kernel
        def of_the_cell(x: wp.array(dtype=float)):
            x[0] = 1.0
        """
    text = """
        @wp.kernel
        def reads(x: wp.array(dtype=float)):
            x[0] = float(LIMIT) + {unique}

        @wp.kernel
        def does_not(x: wp.array(dtype=float)):
            x[0] = {unique}
        """
    unique = 5.0 + next(_serial) / 256.0
    source = load(tmp_path, cell.format(limit=3) + text.format(unique=unique))
    x = wp.zeros(1, dtype=float, device="cpu")
    wp.launch(source.reads, dim=1, inputs=[x], device="cpu")
    assert x.numpy()[0] == 3.0 + unique
    # The first launch has begun to compile the others, of which nobody launches that of the cell.
    wp.load_module(source, device="cpu")
    exec_again(source, textwrap.dedent(cell.format(limit=4)), tmp_path / "cell.py")
    with Compiled() as count:
        wp.launch(source.does_not, dim=1, inputs=[x], device="cpu")
    assert (count.compiled, count.cached) == (0, 0)
    with Compiled() as count:
        wp.launch(source.reads, dim=1, inputs=[x], device="cpu")
    assert x.numpy()[0] == 4.0 + unique
    assert (count.compiled, count.cached) == (1, 0)


def exec_again(module, text, path):
    """Runs `text` in a module, as a cell of a notebook does."""
    path.write_text(text)
    exec(compile(text, str(path), "exec"), module.__dict__)


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in [
    "import inkle as wp; x = wp.zeros(1, dtype=float, device='cpu')",
    "SCALE = 3.0",
    "@wp.kernel\\ndef scaled(x: wp.array(dtype=float)):\\n    x[0] = SCALE",
    "@wp.kernel\\ndef other(x: wp.array(dtype=float)):\\n    x[0] = 5.0",
    "wp.launch(scaled, dim=1, inputs=[x]); wp.launch(other, dim=1, inputs=[x])",
    "SCALE = 4.0",
    "before = wp._native.compile_statistics()",
    "wp.launch(other, dim=1, inputs=[x]); print(x.numpy()[0])",
    "wp.launch(scaled, dim=1, inputs=[x]); print(x.numpy()[0])",
    "print(wp._native.compile_statistics()[0] - before[0], 'compiled')",
]:
    shell.run_cell(cell, store_history=True).raise_error()
"""


def test_a_cell_of_a_notebook_that_assigns_a_constant_changes_what_reaches_it(tmp_path):
    pytest.importorskip("IPython", reason="IPython is not installed")
    environment = dict(ENVIRONMENT, IPYTHONDIR=str(tmp_path / "ipython"), INKLE_CACHE_PATH=str(tmp_path / "cache"))
    ran = subprocess.run([sys.executable, "-c", NOTEBOOK], env=environment, capture_output=True, text=True)
    assert ran.stdout.split("\n")[-4:-1] == ["5.0", "4.0", "1 compiled"], ran.stdout + ran.stderr


def test_closures_with_equal_values_are_one_kernel(tmp_path):
    def make(scale):
        @wp.kernel(module="unique")
        def scaled(x: wp.array(dtype=float)):
            i = wp.tid()
            x[i] = x[i] * scale

        return scaled

    x = wp.ones(1, dtype=float, device="cpu")
    with Compiled() as count:
        for _ in range(20):
            wp.launch(make(2.0), dim=1, inputs=[x], device="cpu")
        wp.launch(make(0.5), dim=1, inputs=[x], device="cpu")
    assert count.compiled == 2
    assert x.numpy()[0] == 2.0**19


def test_generic_kernels_are_compiled_for_declared_overloads(tmp_path):
    text = """
    @wp.kernel
    def scale(x: wp.array(dtype=Any), s: Any):
        i = wp.tid()
        x[i] = s * (x[i] * s) * s

    single = wp.overload(scale, {"x": wp.array(dtype=wp.float32), "s": wp.float32})
    double = wp.overload(scale, {"x": wp.array(dtype=wp.float64), "s": wp.float64})
    """
    source = load(tmp_path, text)
    with Compiled() as count:
        wp.load_module(source, device="cpu")
    assert count.compiled == 2
    x = wp.ones(2, dtype=wp.float64, device="cpu")
    with Compiled() as count:
        wp.launch(source.scale, dim=2, inputs=[x, wp.float64(3.0)], device="cpu")
        wp.launch(source.double, dim=2, inputs=[x, wp.float64(3.0)], device="cpu")
    assert (count.compiled, count.cached) == (0, 0)
    assert x.numpy().tolist() == [27.0**2] * 2


def test_a_block_size_makes_no_other_code(tmp_path, device):
    source = load(tmp_path, two())
    x = wp.ones(300, dtype=float, device=device)
    with Compiled() as count:
        for block_dim in (32, 64, 256):
            wp.launch(source.grow, dim=300, inputs=[x], device=device, block_dim=block_dim)
            wp.launch(source.shrink, dim=300, inputs=[x], device=device, block_dim=block_dim)
    assert count.compiled == 2
    assert np.allclose(x.numpy(), 1.0)


# --- loading


def test_load_module_leaves_nothing_to_compile(tmp_path, device):
    source = load(tmp_path, two())
    with Compiled() as count:
        wp.load_module(source, device=device)
    assert count.compiled == 2
    x = wp.ones(8, dtype=float, device=device)
    with Compiled() as count:
        wp.launch(source.grow, dim=8, inputs=[x], device=device)
        wp.launch(source.shrink, dim=8, inputs=[x], device=device)
    assert (count.compiled, count.cached) == (0, 0)


@pytest.mark.parametrize("workers", [None, 0, 1, 3])
def test_any_number_of_workers_loads_all(tmp_path, workers):
    names, serial = [f"k{i}" for i in range(12)], 100 * next(_serial)
    kernels = "".join(
        f"\n    @wp.kernel\n    def {n}(x: wp.array(dtype=float)):\n        x[0] = {i}.5 + {serial}.0\n"
        for i, n in enumerate(names)
    )
    source = load(tmp_path, kernels)
    with Compiled() as count:
        wp.load_module(source, device="cpu", max_workers=workers, block_dim=128)
    assert count.compiled == 12
    x = wp.zeros(1, dtype=float, device="cpu")
    for i, name in enumerate(names):
        wp.launch(getattr(source, name), dim=1, inputs=[x], device="cpu")
        assert x.numpy()[0] == i + 0.5 + serial


def test_wrong_numbers_of_workers_and_threads_are_errors(tmp_path):
    source = load(tmp_path, two())
    with pytest.raises(ValueError, match="`max_workers` is a number of threads or None, not -1"):
        wp.load_module(source, device="cpu", max_workers=-1)
    with pytest.raises(ValueError, match="`block_dim` is between 1 and 1024, not 0"):
        wp.load_module(source, device="cpu", block_dim=0)


@pytest.mark.parametrize("recursive", [False, True])
def test_loading_a_module_with_nothing_in_it_is_an_error(recursive):
    for module, name in (("no_module_of_this_name", "no_module_of_this_name"), (textwrap, "textwrap")):
        with pytest.raises(RuntimeError, match=f"`{name}`.*no kernels, functions or structs"):
            wp.load_module(module, device="cpu", recursive=recursive)


def test_recursive_loading_takes_in_the_modules_inside(tmp_path):
    for name in ("outer_package", "outer_package.inner", "outer_packages"):
        module = types.ModuleType(name)
        text = f"@wp.kernel(module={name!r})\ndef k(x: wp.array(dtype=float)):\n    x[0] = {len(name)}.25\n"
        path = tmp_path / f"{name}.py"
        path.write_text("import inkle as wp\n" + text)
        exec(compile(path.read_text(), path, "exec"), module.__dict__)
        sys.modules[name] = module
    try:
        with Compiled() as count:
            wp.load_module("outer_package", device="cpu")
        assert count.compiled == 1
        with Compiled() as count:
            wp.load_module("outer_package", device="cpu", recursive=True)
        assert count.compiled == 1
        with Compiled() as count:
            wp.force_load(device="cpu", modules=[wp.get_module("outer_packages")])
        assert count.compiled == 1
    finally:
        for name in ("outer_package", "outer_package.inner", "outer_packages"):
            del sys.modules[name]


WRONG = """
@wp.kernel
def wrong(x: wp.array(dtype=float)):
    x[0] = nothing
"""


def test_loading_reports_a_mistake_and_loads_the_rest(tmp_path, messages):
    source = load(tmp_path, two(after=WRONG))
    with Compiled() as count, pytest.raises(wp.CompileError, match="nothing"):
        wp.load_module(source, device="cpu")
    assert count.compiled == 2
    assert [level for level, _ in messages] == ["info"] and messages[0][1].endswith("(error)")


# --- messages

LINE = r"Module {name} [0-9a-f]{{7}} load on device 'cpu' took [0-9.]+ ms  \({end}\)"


def assert_line(message, name, end):
    assert re.fullmatch(LINE.format(name=re.escape(name), end=end), message), message


def test_loading_tells_module_hash_device_time_and_source(tmp_path):
    program = tmp_path / "program.py"
    kernels = textwrap.dedent(two())
    end = f"wp.config.quiet = False\nwp.config.kernel_cache_dir = {str(tmp_path / 'cache')!r}\n"
    program.write_text(HEADER + kernels + end + "wp.load_module(device='cpu')\nwp.load_module(device='cpu')\n")
    lines = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(program)], env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=True
        )
        # One line for two loads, of which the second one has nothing to do.
        [line] = done.stdout.splitlines()
        lines.append(line)
    assert_line(lines[0], "__main__", "compiled")
    assert_line(lines[1], "__main__", "cached")
    # Equal content, equal hash.
    assert lines[0].split()[2] == lines[1].split()[2]


def test_the_first_launch_tells_of_its_module_and_later_ones_tell_those_who_ask(tmp_path, messages):
    source = load(tmp_path, two())
    x = wp.ones(1, dtype=float, device="cpu")
    wp.launch(source.grow, dim=1, inputs=[x], device="cpu")
    wp.launch(source.grow, dim=1, inputs=[x], device="cpu")
    wp.launch(source.shrink, dim=1, inputs=[x], device="cpu")
    assert len(messages) == 1
    assert_line(messages[0][1], source.__name__, "compiled")
    for setting in ({"log_level": wp.LOG_DEBUG}, {"verbose": True}):
        messages.clear()
        for name, value in setting.items():
            setattr(wp.config, name, value)
        other = load(tmp_path, two())
        wp.launch(other.grow, dim=1, inputs=[x], device="cpu")
        assert [level for level, _ in messages] == ["debug", "info"]
        assert messages[0][1].endswith("kernel grow starts")
        wp.config.log_level = wp.LOG_INFO


def test_quiet_is_silent(tmp_path, messages, capfd):
    wp.config.quiet = True
    wp.load_module(load(tmp_path, two()), device="cpu")
    assert messages == []
    wp.set_logger(None)
    wp.load_module(load(tmp_path, two()), device="cpu")
    assert capfd.readouterr() == ("", "")


def test_messages_are_printed_by_default(tmp_path, messages, capfd):
    wp.set_logger(None)
    source = load(tmp_path, two())
    wp.load_module(source, device="cpu")
    out, err = capfd.readouterr()
    assert_line(out.rstrip("\n"), source.__name__, "compiled")
    # No progress bar, since this is no terminal.
    assert err == ""


def test_python_loggers_can_be_given(tmp_path, messages, caplog):
    wp.set_logger(logging.getLogger("kernels"))
    with caplog.at_level(logging.INFO, logger="kernels"):
        source = load(tmp_path, two())
        wp.load_module(source, device="cpu")
    [record] = caplog.records
    assert record.name == "kernels" and record.levelno == logging.INFO
    assert_line(record.getMessage(), source.__name__, "compiled")


# --- several threads and the end of the process


def test_a_program_can_end_while_its_module_is_compiled(tmp_path):
    kernels = "".join(
        f"\n@wp.kernel\ndef k{i}(x: wp.array(dtype=float)):\n    x[0] = wp.sin(x[0]) * {i}.5\n" for i in range(40)
    )
    program = tmp_path / "program.py"
    end = (
        "\nx = wp.zeros(1, dtype=float, device='cpu')\nwp.launch(k0, dim=1, inputs=[x], device='cpu')\nprint('GOOD')\n"
    )
    program.write_text(HEADER + kernels + end)
    done = subprocess.run([sys.executable, str(program)], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "GOOD\n", done.stderr


@differs_from_warp("a level is a setting like any other")
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_optimisation_level_gives_the_same_results(tmp_path, level):
    text = """
    @wp.kernel
    def mixed(x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
        i = wp.tid()
        s = float(0.0)
        for j in range(i):
            s += wp.dot(x[i], x[j])
        out[i] = s
    """
    source = load(tmp_path, text)
    wp.set_module_options({"optimization_level": level, "fuse_fp": False}, module=source)
    points = np.arange(300, dtype=np.float32).reshape(100, 3) % 7
    x = wp.array(points, dtype=wp.vec3, device="cpu")
    out = wp.zeros(100, dtype=float, device="cpu")
    wp.launch(source.mixed, dim=100, inputs=[x, out], device="cpu")
    want = [float(points[i] @ points[:i].sum(axis=0)) if i else 0.0 for i in range(100)]
    assert out.numpy().tolist() == want
