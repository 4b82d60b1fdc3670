"""`config.verify_autograd_array_access`: overwrites between launches that spoil a backward pass are found."""

import re

import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: it warns of every overwrite of what was read")

wp.set_module_options({"enable_backward": True})


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = x[wp.tid()] * x[wp.tid()]


@wp.kernel
def triple(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = 3.0 * x[wp.tid()]


@wp.kernel
def count(x: wp.array(dtype=float)):
    x[wp.tid()] = float(wp.tid())


@wp.kernel
def weigh(x: wp.array(dtype=float), w: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = w[wp.tid()] * x[wp.tid()]


@wp.kernel
def add_in_place(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    x[wp.tid()] += y[wp.tid()]


@wp.struct
class Pair:
    a: wp.array(dtype=float)
    b: wp.array(dtype=float)


@wp.kernel
def square_pair(pair: Pair):
    pair.b[wp.tid()] = pair.a[wp.tid()] * pair.a[wp.tid()]


@wp.kernel
def square_seen(x: wp.indexedarray(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = x[wp.tid()] * x[wp.tid()]


@pytest.fixture(autouse=True)
def verify():
    wp.config.verify_autograd_array_access = True
    yield
    wp.config.verify_autograd_array_access = False


class Warnings:
    """Takes the messages that would be printed."""

    def __init__(self):
        self.messages = []

    def warning(self, message, category=None, stacklevel=1):
        self.messages.append(message)

    def debug(self, message): ...

    info = error = debug


@pytest.fixture
def warnings():
    logger = Warnings()
    wp.set_logger(logger)
    yield logger.messages
    wp.set_logger(None)


def values(device, n=3):
    return wp.array(np.arange(1.0, n + 1), dtype=float, device=device, requires_grad=True)


def test_an_overwrite_of_what_is_needed_names_arrays_kernels_and_lines(device, warnings):
    x, y, z = values(device), values(device), values(device)
    with wp.Tape():
        wp.launch(square, 3, [x], [y], device=device)
        wp.launch(triple, 3, [z], [x], device=device)
    (message,) = warnings
    places = re.findall(r"argument `(\w+)` of kernel `(\w+)` at \S*test_overwrites.py:(\d+)", message)
    assert [place[:2] for place in places] == [("y", "triple"), ("x", "square")]
    assert int(places[0][2]) == int(places[1][2]) + 1
    assert "array(shape=(3,), dtype=float32)" in message and "gradients will be wrong" in message


@pytest.mark.parametrize("seen", [lambda x: x, lambda x: x[:]], ids=["same", "view"])
def test_a_launch_that_overwrites_what_it_needs_by_another_argument(device, warnings, seen):
    x = values(device)
    with wp.Tape():
        wp.launch(square, 3, [x], [seen(x)], device=device)
    (message,) = warnings
    assert re.search(r"argument `y` of kernel `square` .* argument `x` of kernel `square`", message)
    with wp.Tape():
        # Nothing that was read is needed again, or it is elsewhere.
        wp.launch(triple, 3, [x], [seen(x)], device=device)
        y = values(device, 6)
        wp.launch(square, 3, [y[:3]], [y[3:]], device=device)
    assert len(warnings) == 1


@wp.kernel
def square_at(order: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = y[order[i]] * y[order[i]]


@wp.kernel
def square_neighbour(y: wp.array(dtype=float)):
    i = wp.tid()
    if i % 2 == 0:
        y[i] = y[i + 1] * y[i + 1]


@wp.kernel
def two_steps(y: wp.array2d(dtype=float), t: int):
    # Steps are rows, and everything is written before it is read.
    i = wp.tid()
    y[t + 1, i] = wp.sin(y[t, i])
    for k in range(3):
        y[t + 2 + k, i] = wp.sin(y[t + 1 + k, i])


@pytest.mark.parametrize(
    ("kernel", "inputs", "place"),
    [(square_at, ["order", "y"], "y[order[i]]"), (square_neighbour, ["y"], "y[i + 1]")],
    ids=["at an index of an array", "by another thread"],
)
def test_a_kernel_that_may_overwrite_what_it_needs(device, warnings, kernel, inputs, place):
    arrays = {"order": wp.array([1, 2, 3], dtype=int, device=device), "y": values(device, 4)}
    with wp.Tape():
        for _ in range(2):
            wp.launch(kernel, 3, [arrays[name] for name in inputs], device=device)
    doubts = [message for message in warnings if "may be overwritten later" in message]
    (doubt,) = doubts
    assert f"kernel `{kernel.key}` at " in doubt and doubt.count(place) >= 1 and "test_overwrites.py" in doubt


def test_a_backward_launch_tells_a_doubt_once(device, warnings):
    wp.config.verify_autograd_array_access = False
    y = values(device, 4)
    kernel = wp.kernel(square_neighbour.func, module="unique", enable_backward=True)
    for told in range(2):
        with wp.Tape() as tape:
            wp.launch(kernel, 3, [y], device=device)
        assert len(warnings) == told
        tape.backward(grads={y: wp.ones_like(y)})
    (doubt,) = warnings
    assert "may be overwritten later" in doubt and "test_overwrites.py" in doubt


def test_a_kernel_that_reads_what_it_wrote_is_without_doubt(device, warnings):
    y = wp.zeros((6, 3), dtype=float, device=device, requires_grad=True)
    with wp.Tape():
        wp.launch(two_steps, 3, [y, 0], device=device)
    assert warnings == []


def test_launches_that_are_not_recorded_need_no_gradient(device, warnings):
    x, y = values(device), values(device)
    with wp.Tape():
        wp.launch(square, 3, [x], [y], device=device)
    # It has no backward pass: it certainly overwrites what that would need.
    wp.launch(square_itself, 3, [y], device=device)
    assert warnings == []


@wp.kernel
def square_itself(x: wp.array(dtype=float)):
    x[wp.tid()] = x[wp.tid()] * x[wp.tid()]


def by_launch(x, device):
    wp.launch(triple, 3, [wp.ones(3, dtype=float, device=device)], [x], device=device)


def by_launch_of_outputs(x, device):
    wp.launch(count, 3, outputs=[x], device=device)


def by_copy(x, device):
    wp.copy(x, wp.ones(3, dtype=float, device=device))


def by_fill(x, device):
    x.fill_(2.0)


def by_element(x, device):
    x[1] = 2.0


def by_algorithm(x, device):
    wp.utils.array_scan(wp.ones(3, dtype=float, device=device), x)


@pytest.mark.parametrize("overwrite", [by_launch, by_launch_of_outputs, by_copy, by_fill, by_element, by_algorithm])
def test_an_overwrite_between_the_tape_and_its_backward_pass_is_found(device, warnings, overwrite):
    x, y = values(device), values(device)
    with wp.Tape() as tape:
        wp.launch(square, 3, [x], [y], device=device)
    by_launch(y, device)
    assert warnings == []
    overwrite(x, device)
    (message,) = warnings
    assert "test_overwrites.py" in message and "argument `x` of kernel `square`" in message
    tape.backward(grads={y: wp.ones_like(y)})
    overwrite(x, device)
    assert len(warnings) == 1


def test_what_is_not_needed_may_be_overwritten(device, warnings):
    # The derivative of 3 x is 3, whatever x was.
    x, y, z = values(device), values(device), values(device)
    with wp.Tape() as tape:
        wp.launch(triple, 3, [x], [y], device=device)
        wp.launch(square, 3, [z], [x], device=device)
    assert warnings == []
    tape.backward(grads={y: wp.ones_like(y)})
    np.testing.assert_allclose(x.grad.numpy(), 3.0)


def test_what_has_no_gradient_may_be_needed_too(device, warnings):
    x, y = values(device), values(device)
    w = wp.ones(3, dtype=float, device=device)
    with wp.Tape():
        wp.launch(weigh, 3, [x, w], [y], device=device)
        wp.launch(triple, 3, [y], [w], device=device)
    (message,) = warnings
    assert "argument `w` of kernel `weigh`" in message


def test_sums_in_place_change_what_others_read(device, warnings):
    x, y, z = values(device), values(device), values(device)
    with wp.Tape():
        wp.launch(add_in_place, 3, [x, y], device=device)
        wp.launch(add_in_place, 3, [x, y], device=device)
    assert warnings == []
    with wp.Tape():
        wp.launch(square, 3, [x], [z], device=device)
        wp.launch(add_in_place, 3, [x, y], device=device)
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, z: wp.copy(x, z), "a copy at"),
        (lambda x, z: x.assign(z), "a copy at"),
        (lambda x, z: x.assign([0.0, 0.0, 0.0]), "an assignment at"),
        (lambda x, z: x.zero_(), "an assignment at"),
        (lambda x, z: x.fill_(2.0), "an assignment at"),
        (lambda x, z: x.mark_write(), "the program at"),
    ],
)
def test_copies_and_fills_are_seen(device, warnings, change, words):
    x, y, z = values(device), values(device), values(device)
    with wp.Tape():
        wp.launch(square, 3, [x], [y], device=device)
        change(x, z)
    (message,) = warnings
    assert message.startswith(words) and "test_overwrites.py" in message


def test_views_fields_and_lists_are_looked_through(device, warnings):
    pair = Pair()
    pair.a, pair.b = values(device), values(device)
    with wp.Tape() as tape:
        wp.launch(square_pair, 3, [pair], device=device)
        wp.launch(triple, 1, [pair.b[:1]], [pair.a[1:2]], device=device)
    (message,) = warnings
    assert "argument `y` of kernel `triple`" in message and "argument `pair.a` of kernel `square_pair`" in message
    tape.reset()
    warnings.clear()
    x, y = values(device, 4), values(device, 2)
    seen = wp.indexedarray(x, wp.array([0, 3], dtype=int, device=device))
    with wp.Tape():
        wp.launch(square_seen, 2, [seen], [y], device=device)
        wp.launch(triple, 2, [y], [x[2:]], device=device)
    assert len(warnings) == 1


def test_other_parts_of_an_array_are_others(device, warnings):
    x, y = values(device, 4), values(device, 2)
    with wp.Tape():
        wp.launch(square, 2, [x[:2]], [y], device=device)
        wp.launch(triple, 2, [y], [x[2:]], device=device)
    assert warnings == []


def test_a_backward_pass_ends_what_is_needed(device, warnings):
    x, y, z = values(device), values(device), values(device)
    for _ in range(2):
        with wp.Tape() as tape:
            wp.launch(square, 3, [x], [y], device=device)
            wp.launch(square, 3, [y], [z], device=device)
            assert x._is_read and y._is_read and not z._is_read
        tape.backward(grads={z: wp.ones_like(z)})
        assert not x._is_read and not y._is_read
        tape.zero()
        wp.launch(triple, 3, [z], [x], device=device)
    assert warnings == []
    with wp.Tape() as tape:
        wp.launch(square, 3, [x], [y], device=device)
    assert x._is_read
    tape.reset()
    assert not x._is_read


def test_a_program_can_note_reads_of_its_own(device, warnings):
    x, y = values(device), values(device)
    x.view(dtype=wp.int32).mark_read()
    assert x._is_read and not y._is_read
    with wp.Tape():
        wp.launch(triple, 3, [y], [x], device=device)
    assert len(warnings) == 1
    x.mark_init()
    assert not x._is_read


def test_nothing_is_checked_when_it_is_off(device, warnings):
    wp.config.verify_autograd_array_access = False
    x, y, z = values(device), values(device), values(device)
    with wp.Tape():
        wp.launch(square, 3, [x], [y], device=device)
        wp.launch(triple, 3, [z], [x], device=device)
    assert warnings == [] and not x._is_read
