"""Module constants, closures, kernel factories and redefinition."""

import pytest
from _support import kernel_from, load, run
from _wp import wp

COUNT = wp.constant(3)
SCALE = 2.5
WIDE = wp.constant(wp.int64(5_000_000_000))
AXIS = wp.constant(wp.vec3(1.0, 2.0, 3.0))
FRAME = wp.mat22(1.0, 2.0, 3.0, 4.0)
ENABLED = True


class Settings:
    GAIN = 4.0
    LIMIT = wp.constant(7)


@wp.kernel
def constants(out: wp.array(dtype=float), wide: wp.array(dtype=wp.int64)):
    s = float(0.0)
    for _i in range(COUNT):
        s += SCALE
    out[0] = s
    out[1] = AXIS[1] + wp.dot(AXIS, AXIS)
    out[2] = FRAME[1, 0]
    if ENABLED:
        out[3] = Settings.GAIN
    out[4] = float(Settings.LIMIT)
    out[5] = wp.pi
    wide[0] = WIDE


def test_module_constants(device):
    out = wp.zeros(6, dtype=float, device=device)
    wide = wp.zeros(1, dtype=wp.int64, device=device)
    wp.launch(constants, dim=1, inputs=[out, wide], device=device)
    assert out.numpy().tolist() == [7.5, 16.0, 3.0, 4.0, 7.0, pytest.approx(3.14159265)]
    assert wide.numpy()[0] == 5_000_000_000


def make_scaler(factor, offset):
    @wp.func
    def apply(x: float):
        return x * factor + offset

    @wp.kernel(module="unique")
    def scaler(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = apply(x[i])

    return scaler


def test_factories_capture_values(device):
    x = wp.array([1.0, 2.0], dtype=float, device=device)
    kernels = [make_scaler(2.0, 1.0), make_scaler(10.0, 0.0), make_scaler(1.0, -1.0)]
    for kernel in kernels:
        wp.launch(kernel, dim=2, inputs=[x], device=device)
    assert x.numpy().tolist() == [29.0, 49.0]
    wp.launch(kernels[0], dim=2, inputs=[x], device=device)
    assert x.numpy().tolist() == [59.0, 99.0]


def make_typed(T, op):
    @wp.kernel(module="unique")
    def typed(a: wp.array(dtype=T), b: wp.array(dtype=T), out: wp.array(dtype=T)):
        i = wp.tid()
        out[i] = op(a[i], b[i]) + T(1)

    return typed


@wp.func
def multiply(a: wp.float64, b: wp.float64):
    return a * b


@wp.func
def subtract(a: wp.int16, b: wp.int16):
    return a - b


def test_factories_capture_types_and_functions(device):
    for T, op, want in ((wp.float64, multiply, [9.0]), (wp.int16, subtract, [3])):
        a, b = (wp.array([v], dtype=T, device=device) for v in (4, 2))
        assert run(make_typed(T, op), T, 1, a, b, device=device).tolist() == want


def make_in_same_module(value):
    @wp.kernel
    def shared_name(out: wp.array(dtype=int)):
        out[wp.tid()] = value

    return shared_name


def test_kernels_of_one_name_in_one_module_stay_apart(device):
    kernels = [make_in_same_module(v) for v in (1, 2, 3)]
    for value in (1, 2, 3, 1):
        assert run(kernels[value - 1], int, 2, dim=2, device=device).tolist() == [value, value]


REDEFINED = """
@wp.func
def amount():
    return 1

@wp.kernel
def task(out: wp.array(dtype=int)):
    out[0] = amount()

old = task

@wp.func
def amount():
    return 2

@wp.kernel
def task(out: wp.array(dtype=int)):
    out[0] = amount() + 10
"""


def test_redefinition_replaces_the_kernel(device, tmp_path):
    module = load(tmp_path, REDEFINED)
    assert run(module.task, int, 1, device=device)[0] == 12


def test_constant_is_read_when_the_kernel_is_defined_or_first_launched(device):
    kernels = []
    for n in range(3):
        limit = wp.constant(n + 1)

        @wp.kernel(module="unique")
        def count(out: wp.array(dtype=int)):
            for i in range(limit):  # noqa: B023 - captured on purpose
                out[0] += i + 1

        assert run(count, int, 1, device=device)[0] == sum(range(n + 2))
        kernels.append(count)
    assert run(kernels[2], int, 1, device=device)[0] == 6


def test_static_expressions(device):
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    table = {"gain": 0.5}

    @wp.kernel(module="unique")
    def statics(out: wp.array(dtype=float)):
        out[0] = float(wp.static(factorial(5)))
        out[1] = wp.static(table["gain"] * 3.0)
        if wp.static(len(table) > 5):
            out[2] = undefined_in_this_case  # noqa: F821
        for i in range(wp.static(factorial(3))):
            out[3] += float(i)

    assert run(statics, float, 4, device=device).tolist() == [120.0, 1.5, 0.0, 15.0]


@pytest.mark.parametrize("value", ["'text'", "[1, 2]", "{}", "object()", "None", "1j"])
def test_values_that_are_no_constants_are_refused_by_name(tmp_path, value):
    kernel = kernel_from(tmp_path, "x = STRANGE\nout[0] = x", before=f"STRANGE = {value}")
    with pytest.raises(Exception):  # noqa: B017
        wp.launch(kernel, dim=1, inputs=[1, 1.0, wp.zeros(1, dtype=int, device="cpu")], device="cpu")


def test_kernel_keeps_name_docstring_and_module():
    @wp.kernel(module="unique")
    def documented(out: wp.array(dtype=int)):
        """Says what it does."""
        out[0] = 1

    assert documented.key.endswith("documented") or "documented" in documented.key
    assert documented.func.__doc__ == "Says what it does."
    assert documented.module is not None


def made_in_a_loop(functions):
    for i in range(3):

        @wp.func
        def grown(x: float):
            return x + wp.static(float(i) * 10.0)  # noqa: B023

        functions.append(grown)

    kernels = []
    for k in range(3):

        @wp.kernel(module="unique")
        def numbered(out: wp.array(dtype=float)):
            out[0] = wp.static(float(k)) + wp.static(functions[k])(1.0)  # noqa: B023

        kernels.append(numbered)
    return kernels


def test_static_takes_what_names_mean_when_the_function_is_made(device):
    kernels = made_in_a_loop([])
    assert [run(kernel, float, 1, device=device)[0] for kernel in kernels] == [1.0, 12.0, 23.0]


def test_static_takes_what_globals_mean_when_the_function_is_made(tmp_path):
    text = """
    kernels = []
    for number in range(3):
        @wp.kernel(module="unique")
        def probe(out: wp.array(dtype=int)):
            out[0] = wp.static(number * later)
        kernels.append(probe)
    later = 5
    """
    module = load(tmp_path, text)
    assert [run(kernel, int, 1)[0] for kernel in module.kernels] == [0, 5, 10]


def test_generators_in_static_see_closure_variables():
    def make(factor):
        @wp.kernel(module="unique")
        def summed(out: wp.array(dtype=int)):
            out[0] = wp.static(sum(x * factor for x in (1, 2)))

        return summed

    assert [run(make(factor), int, 1)[0] for factor in (1, 10)] == [3, 30]


def other_functions_of_one_name(simple):
    if simple:

        @wp.func
        def shifted(x: float):
            return x + 10.0

    else:

        @wp.func
        def shifted(x: float, y: float = 3.0):
            return x + y

    @wp.kernel
    def shift(out: wp.array(dtype=float)):
        out[0] = shifted(1.0)

    return shift


def test_functions_of_other_runs_of_a_factory_are_no_overloads(device):
    out = wp.zeros(1, dtype=float, device=device)
    found = []
    first, second = other_functions_of_one_name(True), other_functions_of_one_name(False)
    for kernel in (first, second, other_functions_of_one_name(True), other_functions_of_one_name(False)):
        wp.launch(kernel, dim=1, inputs=[out], device=device)
        found.append(float(out.numpy()[0]))
    assert found == [11.0, 4.0, 11.0, 4.0]


def functions_that_call_later_ones(n):
    @wp.func
    def outer(x: float):
        return inner(x) + 1.0

    @wp.func
    def inner(x: float):
        return x * float(n)

    @wp.kernel
    def nested(out: wp.array(dtype=float)):
        out[0] = outer(1.0)

    return nested


def test_a_factory_whose_functions_call_later_ones_runs_again(device):
    out = wp.zeros(1, dtype=float, device=device)
    for n in (1, 2, 1):
        wp.launch(functions_that_call_later_ones(n), dim=1, inputs=[out], device=device)
        assert out.numpy()[0] == n + 1.0
