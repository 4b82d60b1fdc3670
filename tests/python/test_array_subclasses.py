"""Programs derive classes from the arrays'."""

import numpy as np
import pytest
from _wp import wp


class Tagged(wp.array):
    def __init__(self, *args, tag, **options):
        self.tag = tag
        super().__init__(*args, **options)


class Deeper(Tagged):
    pass


class TaggedView(wp.indexedarray):
    def __init__(self, *args, tag, **options):
        super().__init__(*args, **options)
        self.tag = tag


class Plain(wp.array):
    pass


@wp.kernel
def double(values: wp.array[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = values[i] * 2.0


@wp.kernel
def double_view(values: wp.indexedarray[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = values[i] * 2.0


@pytest.mark.parametrize("kind", [Tagged, Deeper])
def test_constructors_take_what_they_like(device, kind):
    values = kind([1.0, 2.0], tag="a", dtype=float, device=device)
    out = kind(shape=2, tag="b", dtype=float, device=device)
    wp.launch(double, 2, inputs=[values], outputs=[out], device=device)
    assert list(out.numpy()) == [2, 4]
    assert (out.tag, type(out), isinstance(out, wp.array)) == ("b", kind, True)
    # What is made from one is an array of the library's own class.
    assert type(wp.empty_like(values)) is wp.array
    assert type(values[1:]) is wp.array


def test_without_a_constructor_of_its_own(device):
    assert list(Plain([1.0, 2.0], dtype=float, device=device).numpy()) == [1, 2]


def test_indexed_arrays_too(device):
    values = wp.array([1.0, 2.0, 3.0], dtype=float, device=device)
    view = TaggedView(values, wp.array([2, 0], dtype=int, device=device), tag="v")
    out = wp.zeros(2, dtype=float, device=device)
    wp.launch(double_view, 2, inputs=[view], outputs=[out], device=device)
    assert list(out.numpy()) == [6, 2]
    assert view.tag == "v"


def test_operators_keep_the_object(device):
    values = Tagged([1.0, 2.0], tag="a", dtype=float, device=device)
    same = values
    values += 1.0
    assert values is same and values.tag == "a"
    np.testing.assert_array_equal((values * 2.0).numpy(), [4, 6])


def test_their_annotations_are_the_library_s():
    with pytest.raises(TypeError, match="Subscript syntax not supported"):
        Tagged[float]


def test_an_object_without_init_is_empty():
    empty = Tagged.__new__(Tagged)
    assert empty.device is None
    out = wp.zeros(1, dtype=float, device="cpu")
    with pytest.raises(RuntimeError, match="annotation without elements"):
        wp.launch(double, 1, inputs=[empty, out], device="cpu")
    with pytest.raises(RuntimeError, match="`__init__` has run before"):
        out.__init__(shape=3, dtype=float)
