"""wp.func: calls, results, overloads, arguments, and what is refused."""

import functools
import math
from math import atan2 as arctangent
from typing import Union

import numpy as np
import pytest
from _support import differs_from_warp, kernel_from, run
from _wp import wp


@wp.func
def square(x: float) -> float:
    return x * x


@wp.func
def norm(x: float, y: float):
    return wp.sqrt(square(x) + square(y))


@wp.func
def divmod_c(a: int, b: int):
    return a / b, a % b


@wp.func
def sort2(a: float, b: float) -> tuple[float, float]:
    if a > b:
        return b, a
    return a, b


@wp.func
def scaled(x: float, factor: float = 2.0, offset: float = 1.0):
    return x * factor + offset


@wp.kernel
def calls(out: wp.array(dtype=float)):
    out[0] = norm(3.0, 4.0)
    q, r = divmod_c(17, 5)
    out[1] = float(q * 10 + r)
    low, high = sort2(5.0, 2.0)
    out[2] = low * 10.0 + high
    out[3] = scaled(3.0)
    out[4] = scaled(3.0, 10.0)
    out[5] = scaled(3.0, offset=0.0)
    out[6] = scaled(offset=5.0, x=1.0, factor=3.0)
    f = square
    out[7] = f(f(2.0))


def test_calls_results_defaults_and_keywords(device):
    assert run(calls, float, 8, device=device).tolist() == [5.0, 32.0, 25.0, 7.0, 31.0, 6.0, 8.0, 16.0]


@wp.func
def kind(x: int):
    return 1


@wp.func
def kind(x: float):  # noqa: F811 - an overload
    return 2


@wp.func
def kind(x: wp.vec3):  # noqa: F811
    return 3


@wp.func
def kind(x: int, y: int):  # noqa: F811
    return 4


@wp.kernel
def overloads(out: wp.array(dtype=int)):
    out[0] = kind(1)
    out[1] = kind(1.0)
    out[2] = kind(wp.vec3())
    out[3] = kind(1, 2)


def test_overloads_are_chosen_by_argument_types(device):
    assert run(overloads, int, 4, device=device).tolist() == [1, 2, 3, 4]


@wp.func
def change(n: int, v: wp.vec3, a: wp.array(dtype=float), row: wp.array(dtype=float)):
    n = n + 1
    v[0] = 10.0
    a[n] = 7.0
    row[1] += 0.5


@wp.kernel
def arguments(a: wp.array(dtype=float), m: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    n = int(1)
    v = wp.vec3(1.0, 2.0, 3.0)
    change(n, v, a, m[1])
    out[0] = float(n)
    out[1] = v[0]


def test_arguments_are_values_but_arrays_are_shared(device):
    a = wp.zeros(3, dtype=float, device=device)
    m = wp.zeros((2, 2), dtype=float, device=device)
    assert run(arguments, float, 2, a, m, device=device).tolist() == [1.0, 1.0]
    assert a.numpy().tolist() == [0.0, 0.0, 7.0]
    assert m.numpy().tolist() == [[0.0, 0.0], [0.0, 0.5]]


GENERIC = """
@wp.func
def twice(x: Any):
    return x + x

@wp.func
def first(a: wp.array(dtype=Any)):
    return a[0]
"""


def test_generic_functions(device, tmp_path):
    body = "out[0] = twice(f)\nout[1] = float(twice(3))\nout[2] = twice(wp.vec2(1.0, 2.0))[1]\nout[3] = first(a) + float(first(b))"
    kernel = kernel_from(
        tmp_path,
        body,
        "f: float, a: wp.array(dtype=float), b: wp.array(dtype=int), out: wp.array(dtype=float)",
        GENERIC,
    )
    a = wp.array([0.5], dtype=float, device=device)
    b = wp.array([4], dtype=int, device=device)
    assert run(kernel, float, 4, 1.5, a, b, device=device).tolist() == [3.0, 6.0, 4.0, 4.5]


@wp.func
def clamp_negative(x: wp.array(dtype=float), i: int):
    if i >= x.shape[0]:
        return
    if x[i] < 0.0:
        x[i] = 0.0


@wp.kernel
def procedures(x: wp.array(dtype=float)):
    clamp_negative(x, wp.tid())


def test_function_without_result(device):
    x = wp.array([-1.0, 2.0, -3.0], dtype=float, device=device)
    wp.launch(procedures, dim=64, inputs=[x], device=device)
    assert x.numpy().tolist() == [0.0, 2.0, 0.0]


def test_functions_can_be_called_from_python():
    assert square(3.0) == 9.0
    assert scaled(3.0, offset=0.0) == 6.0


def test_deep_call_chains(device, tmp_path):
    before = "@wp.func\ndef f0(x: float):\n    return x + 1.0\n"
    for i in range(1, 40):
        before += f"\n@wp.func\ndef f{i}(x: float):\n    return f{i - 1}(x) + f{max(i - 20, 0)}(0.0) - f{max(i - 20, 0)}(0.0) + 1.0\n"
    kernel = kernel_from(tmp_path, "out[0] = f39(f)", "f: float, out: wp.array(dtype=float)", before)
    assert run(kernel, float, 1, 0.5, device=device)[0] == 40.5


REFUSED = {
    "two result types": ("def g(x: float):\n    if x > 0.0:\n        return 1\n    return 2.0", "g(f)"),
    "promised another type": ("def g(x: float) -> int:\n    return x", "g(f)"),
    "direct recursion": ("def g(x: float) -> float:\n    if x < 0.0:\n        return x\n    return g(x - 1.0)", "g(f)"),
    "no annotation": ("def g(x):\n    return x", "g(f)"),
    "no result used as value": ("def g(x: float):\n    y = x", "g(f)"),
    "too many arguments": ("def g(x: float):\n    return x", "g(f, f)"),
    "wrong type": ("def g(x: float):\n    return x", "g(n)"),
    "unknown keyword": ("def g(x: float):\n    return x", "g(y=f)"),
    "thread index in a function": ("def g(x: float):\n    return float(wp.tid())", "g(f)"),
    "too many results": ("def g(x: float):\n    return x, x", "g(f)\na, b, c = g(f)"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_refused_functions(tmp_path, mistake):
    source, call = REFUSED[mistake]
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017
        kernel = kernel_from(tmp_path, f"value = {call}\nout[0] = 1", before="@wp.func\n" + source)
        wp.launch(kernel, dim=1, inputs=[1, 1.0, out], device="cpu")
    assert out.numpy()[0] == 0


def test_mutual_recursion_is_refused(tmp_path):
    before = (
        "@wp.func\ndef a(x: float) -> float:\n    return b(x)\n\n@wp.func\ndef b(x: float) -> float:\n    return a(x)"
    )
    kernel = kernel_from(tmp_path, "y = a(f)\nout[0] = 1", before=before)
    with pytest.raises(Exception):  # noqa: B017
        wp.launch(kernel, dim=1, inputs=[1, 1.0, wp.zeros(1, dtype=int, device="cpu")], device="cpu")


def test_plain_python_function_is_refused_by_name(tmp_path):
    kernel = kernel_from(tmp_path, "y = undecorated(f)\nout[0] = 1", before="def undecorated(x):\n    return x")
    with pytest.raises(Exception, match="undecorated"):
        wp.launch(kernel, dim=1, inputs=[1, 1.0, wp.zeros(1, dtype=int, device="cpu")], device="cpu")


@wp.func
def weighted(pair: tuple[wp.vec3, float], scale: float = 2.0) -> float:
    return wp.length(pair[0]) * pair[1] * scale


@wp.func
def total(values: tuple[int, ...]) -> int:
    sum = int(0)
    for i in range(len(values)):
        sum += values[i]
    return sum


@wp.kernel
def pass_tuples(n: int, out: wp.array(dtype=float)):
    pair = (wp.vec3(3.0, 0.0, 4.0), float(n))
    out[0] = weighted(pair)
    out[1] = weighted((wp.vec3(1.0, 0.0, 0.0), 2.0), scale=5.0)
    out[2] = float(total((n, 2, 3)))
    out[3] = float(total((n,)))


def test_tuples_as_arguments(device):
    out = wp.zeros(4, dtype=float, device=device)
    wp.launch(pass_tuples, dim=1, inputs=[7], outputs=[out], device=device)
    assert out.numpy().tolist() == [70.0, 10.0, 12.0, 7.0]


@pytest.mark.parametrize("call", ["total((n, 2.0))", "weighted((1.0, 2.0))", "weighted((wp.vec3(), 1.0, 2.0))"])
def test_tuples_of_other_types_are_refused(tmp_path, call):
    before = (
        "@wp.func\ndef weighted(pair: tuple[wp.vec3, float]):\n    return pair[1]\n\n"
        "@wp.func\ndef total(values: tuple[int, ...]):\n    return values[0]"
    )
    kernel = kernel_from(tmp_path, f"x = {call}\nout[0] = 1", before=before)
    with pytest.raises(Exception, match=r"tuple"):
        wp.launch(kernel, dim=1, inputs=[1, 1.0, wp.zeros(1, dtype=int, device="cpu")], device="cpu")


@pytest.mark.parametrize("hint", [1, "yes", 0.5])
def test_the_inline_hint_is_a_bool(hint):
    with pytest.raises(TypeError, match="inline must be a bool"):
        wp.func(inline=hint)


def test_names_of_kernels():
    def body(x: float):
        pass

    assert wp.kernel(name="another_name", module="unique")(body).key == "another_name"
    with pytest.raises(ValueError, match="1st"):
        wp.kernel(name="1st", module="unique")(body)


@pytest.mark.parametrize("annotation", [float | int, wp.array[float] | None, Union[wp.vec3, wp.quat]])  # noqa: UP007
def test_unions_are_for_python(annotation):
    def either(x):
        return x

    either.__annotations__["x"] = annotation
    with pytest.raises(RuntimeError, match="Union"):
        wp.func(either)


@wp.func
def ramp(n: int) -> wp.fixedarray(shape=(2, 3), dtype=int):
    values = wp.zeros(shape=(2, 3), dtype=int)
    for i in range(6):
        values[i // 3, i % 3] = i * n
    return values


@wp.func
def last(values: wp.fixedarray(shape=(2, 3), dtype=int)):
    return values[1, 2]


@wp.kernel
def pass_fixed_arrays(n: int, out: wp.array(dtype=int)):
    out[0] = last(ramp(n))


def test_fixed_arrays_as_arguments_and_results(device):
    out = wp.zeros(1, dtype=int, device=device)
    wp.launch(pass_fixed_arrays, dim=1, inputs=[7], outputs=[out], device=device)
    assert out.numpy()[0] == 35


@wp.func
def documented(x: float):
    """What it does."""
    return x


def test_documentation_is_that_of_the_python_function():
    assert documented.__doc__ == "What it does."


def test_structs_give_their_own_documentation():
    @wp.struct
    class Documented:
        """What it holds."""

        x: float

    assert Documented.__doc__ == "What it holds."


@wp.kernel
def of_other_modules(x: float, out: wp.array(dtype=float)):
    out[0] = math.sin(x) + np.sqrt(4.0)
    out[1] = math.pow(x, 3.0)
    out[2] = math.floor(2.5)
    out[3] = arctangent(x, 2.0)


def test_functions_of_math_and_numpy_are_the_built_ins_of_their_names(device):
    out = run(of_other_modules, float, 4, 0.5, device=device)
    np.testing.assert_allclose(out, [np.sin(0.5) + 2.0, 0.125, 2.0, np.arctan2(0.5, 2.0)], rtol=1e-6)


def test_functions_of_math_without_a_built_in_are_refused(tmp_path):
    kernel = kernel_from(tmp_path, "out[0] = int(math.gamma(4.0))")
    with pytest.raises(Exception, match="gamma"):
        run(kernel, int, 1, 1, 1.0)


@wp.func
def mixed(x: float, y: float = 10.0, *, z: float, w: float = 1000.0):
    return x + y + z + w


@wp.kernel
def calls_mixed(out: wp.array(dtype=float)):
    out[0] = mixed(1.0, z=100.0)
    out[1] = mixed(1.0, 2.0, z=3.0, w=4.0)


@differs_from_warp("parameters that are given by name only have no defaults")
def test_defaults_of_parameters_given_by_name_only(device):
    assert run(calls_mixed, float, 2, device=device).tolist() == [1111.0, 10.0]


@differs_from_warp("parameters that are given by name only have no defaults")
def test_a_default_belongs_to_its_parameter(tmp_path):
    before = "@wp.func\ndef added(x: float, y: float = 1.0, *, z: float):\n    return x + y + z\n"
    kernel = kernel_from(tmp_path, "out[0] = int(added(1.0, 2.0))", before=before)
    with pytest.raises(Exception, match="misses the argument `z`"):
        run(kernel, int, 1, 1, 1.0)


def wrapped(function):
    @functools.wraps(function)
    def outer(*args):
        return function(*args)

    return outer


@wp.func
@wrapped
def tripled(x: float):
    return x * 3.0


@wp.kernel
@wrapped
def within_a_decorator(out: wp.array(dtype=float)):
    out[0] = tripled(2.0)


def test_functions_are_found_within_other_decorators(device):
    assert run(within_a_decorator, float, 1, device=device).tolist() == [6.0]
