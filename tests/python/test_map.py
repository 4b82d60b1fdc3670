"""wp.map and arithmetic of arrays."""

import numpy as np
import pytest
from _support import differs_from_warp
from _wp import wp


@wp.func
def halves(x: float):
    return x * 0.5, wp.vec2(x, -x)


def test_lambda_with_a_captured_value(device):
    a = wp.array([1.0, 2.0, 3.0], dtype=float, device=device)
    offset = 4.0
    np.testing.assert_array_equal(wp.map(lambda x: 2.0 * x + offset, a).numpy(), [6.0, 8.0, 10.0])


def test_each_captured_value_counts(device):
    a = wp.array([1.0, 2.0], dtype=float, device=device)

    def scaled(factor):
        return wp.map(lambda x: factor * x, a).numpy()

    for factor in (2.0, 3.0):
        np.testing.assert_array_equal(scaled(factor), [factor, 2.0 * factor])


FACTOR = 2.0


class Settings:
    factor = 2.0


@wp.func
def rescaled(x: float):
    return x * 2.0


def test_values_and_functions_of_the_module_count_as_they_are(device, monkeypatch):
    a = wp.array([1.0, 2.0], dtype=float, device=device)

    def function(x):
        return x * FACTOR

    @wp.func
    def other(x: float):
        return x * 3.0

    maps = (
        lambda: wp.map(lambda x: x * FACTOR, a),
        lambda: wp.map(lambda x: x * Settings.factor, a),
        lambda: wp.map(lambda x: rescaled(x), a),
        lambda: wp.map(function, a),
    )
    assert [mapped().numpy().tolist() for mapped in maps] == [[2.0, 4.0]] * 4
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    monkeypatch.setattr(Settings, "factor", 3.0)
    monkeypatch.setitem(globals(), "rescaled", other)
    assert [mapped().numpy().tolist() for mapped in maps] == [[3.0, 6.0]] * 4
    monkeypatch.undo()
    assert [mapped().numpy().tolist() for mapped in maps] == [[2.0, 4.0]] * 4


@differs_from_warp("functions of one code share their first values")
@differs_from_warp("its cache is another")
def test_lambdas_of_one_text_are_one_function():
    from inkle import _map

    first, again = _map._function_of(lambda x: x + 1.0), _map._function_of(lambda x: x + 1.0)
    assert first is again
    assert _map._function_of(lambda x: x + 2.0) is not first

    def made(k):
        return _map._function_of(lambda x: x + k)

    assert made(1.0) is not made(2.0)


def test_functions_without_annotations_take_any_type(device):
    def shifted(by):
        def function(x):
            """Documented."""
            if x[0] > x.dtype(1.5):
                return x
            return x + by

        return function

    for dtype, by in ((wp.vec2, wp.vec2(1.0, 2.0)), (wp.vec2i, wp.vec2i(1, 2)), (wp.vec2, wp.vec2(3.0, 4.0))):
        a = wp.array([[1, 1], [2, 2]], dtype=dtype, device=device)
        made = wp.map(shifted(by), a)
        assert made.dtype is dtype and made.numpy().tolist() == [[1 + by[0], 1 + by[1]], [2, 2]]


def test_functions_may_have_annotations_on_some_parameters(device):
    def function(x, factor: float):
        return x * factor

    a = wp.array([1.0, 2.0], dtype=float, device=device)
    assert wp.map(function, a, 3.0).numpy().tolist() == [3.0, 6.0]
    with pytest.raises(TypeError):
        wp.map(function, a, 3)


def test_builtin_with_a_value(device):
    a = wp.array([-3.0, 0.25, 3.0], dtype=float, device=device)
    np.testing.assert_array_equal(wp.map(wp.clamp, a, -1.0, 1.0).numpy(), [-1.0, 0.25, 1.0])


def test_several_results(device):
    half, pair = wp.map(halves, wp.array([2.0, 4.0], dtype=float, device=device))
    np.testing.assert_array_equal(half.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(pair.numpy(), [[2.0, -2.0], [4.0, -4.0]])


def test_shapes_broadcast(device):
    column = wp.array([[1.0], [2.0]], dtype=float, device=device)
    row = wp.array([10.0, 20.0, 30.0], dtype=float, device=device)
    np.testing.assert_array_equal(wp.map(wp.add, column, row).numpy(), [[11.0, 21.0, 31.0], [12.0, 22.0, 32.0]])
    with pytest.raises(ValueError, match="not broadcastable"):
        wp.map(wp.add, row, wp.zeros(2, dtype=float, device=device))


def test_arithmetic(device):
    a = wp.array([4, 9], dtype=int, device=device)
    b = wp.array([3, -2], dtype=int, device=device)
    np.testing.assert_array_equal((a + b).numpy(), [7, 7])
    np.testing.assert_array_equal((10 - a).numpy(), [6, 1])
    np.testing.assert_array_equal((-b).numpy(), [-3, 2])
    a *= b
    np.testing.assert_array_equal(a.numpy(), [12, -18])


def test_wrong_output(device):
    a = wp.zeros(3, dtype=float, device=device)
    with pytest.raises(TypeError, match="does not match expected dtype"):
        wp.map(wp.sin, a, out=wp.zeros(3, dtype=int, device=device))
