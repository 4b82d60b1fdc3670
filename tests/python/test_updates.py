"""Atomic updates of launches that are large enough for several threads: sums come out whole however they are run.

Each kernel is launched often, as what its launches cost decides how later ones run. Sums are of whole numbers, so that they
do not depend on the order.
"""

import numpy as np
import pytest
from _wp import wp

wp.set_module_options({"enable_backward": True})

ROUNDS = 12
COUNT = 300_000
RANDOM = np.random.default_rng(5)
PLACES = RANDOM.integers(0, 1000, COUNT).astype(np.int32)


@wp.kernel
def scatter(places: wp.array(dtype=int), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    wp.atomic_add(out, places[i], wp.vec3(1.0, 2.0, float(i % 3)))
    wp.atomic_sub(out, places[COUNT - 1 - i], wp.vec3(0.0, 1.0, 0.0))


def test_vectors_at_any_place(device):
    out = wp.zeros(1000, dtype=wp.vec3, device=device)
    for _ in range(ROUNDS):
        wp.launch(scatter, COUNT, [wp.array(PLACES, device=device)], [out], device=device)
    expected = np.zeros((1000, 3))
    values = np.stack([np.ones(COUNT), np.full(COUNT, 2.0), np.arange(COUNT) % 3], 1)
    np.add.at(expected, PLACES, values)
    expected[:, 1] -= np.bincount(PLACES, minlength=1000)
    np.testing.assert_array_equal(out.numpy(), expected * ROUNDS)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_scalars_of_every_type(device, dtype):
    scalar = getattr(wp, dtype)

    @wp.kernel(module="unique")
    def count(places: wp.array(dtype=int), out: wp.array(dtype=scalar)):
        wp.atomic_add(out, places[wp.tid()], scalar(3))

    out = wp.zeros(1000, dtype=scalar, device=device)
    for _ in range(ROUNDS):
        wp.launch(count, COUNT, [wp.array(PLACES, device=device)], [out], device=device)
    np.testing.assert_array_equal(out.numpy(), 3 * ROUNDS * np.bincount(PLACES, minlength=1000))


@wp.kernel
def two_sums(places: wp.array(dtype=int), a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(a, places[i], 1.0)
    wp.atomic_add(b, (places[i] + 1) % 1000, 2.0)


def test_one_array_in_two_parameters(device):
    out = wp.zeros(1000, dtype=float, device=device)
    for _ in range(ROUNDS):
        wp.launch(two_sums, COUNT, [wp.array(PLACES, device=device), out, out], device=device)
    counts = np.bincount(PLACES, minlength=1000)
    np.testing.assert_array_equal(out.numpy(), ROUNDS * (counts + 2 * np.roll(counts, 1)))


@wp.kernel
def add_of(source: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(out, i % 64, source[i % 64])


@pytest.mark.parametrize("step", [1, 2])
def test_what_is_read_lies_beside_what_is_updated(device, step):
    both = wp.array(np.ones(128, dtype=np.float32), device=device)
    source, out = (both[:64], both[64:]) if step == 1 else (both[::2], both[1::2])
    for _ in range(ROUNDS):
        wp.launch(add_of, 64 * 5000, [source, out], device=device)
    np.testing.assert_array_equal(source.numpy(), np.ones(64))
    np.testing.assert_array_equal(out.numpy(), np.full(64, 1.0 + 5000 * ROUNDS))


@wp.kernel
def at_index(out: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(out, i, 1.0)


@pytest.mark.parametrize("repeats", [1, 3])
def test_elements_at_the_index(device, repeats):
    out = wp.zeros(COUNT, dtype=float, device=device)
    for _ in range(ROUNDS):
        wp.launch(at_index, (COUNT, repeats), [out], device=device)
    np.testing.assert_array_equal(out.numpy(), np.full(COUNT, ROUNDS * repeats))


@wp.kernel
def transposed(out: wp.array2d(dtype=int)):
    i, j = wp.tid()
    wp.atomic_add(out, j, i, 1)
    wp.atomic_add(out, i, j, 1)


def test_elements_at_indices_in_two_orders(device):
    out = wp.zeros((512, 512), dtype=int, device=device)
    for _ in range(ROUNDS):
        wp.launch(transposed, (512, 512), [out], device=device)
    np.testing.assert_array_equal(out.numpy(), np.full((512, 512), 2 * ROUNDS))


@wp.kernel
def take_numbers(counter: wp.array(dtype=int), taken: wp.array(dtype=int)):
    taken[wp.tid()] = wp.atomic_add(counter, 0, 1)


def test_old_values_are_all_different(device):
    counter, taken = wp.zeros(1, dtype=int, device=device), wp.zeros(COUNT, dtype=int, device=device)
    for _ in range(ROUNDS):
        counter.zero_()
        wp.launch(take_numbers, COUNT, [counter], [taken], device=device)
        np.testing.assert_array_equal(np.sort(taken.numpy()), np.arange(COUNT))


@wp.kernel
def sum_up(x: wp.array(dtype=float), places: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(out, i % 64, x[places[i]] * x[i % 1000])


def test_gradients_of_elements_that_many_threads_read(device):
    x = wp.array(RANDOM.integers(0, 4, 1000).astype(np.float32), device=device, requires_grad=True)
    places = wp.array(PLACES, device=device)
    out = wp.zeros(64, dtype=float, device=device, requires_grad=True)
    values = x.numpy()
    expected = np.zeros(1000)
    np.add.at(expected, PLACES, values[np.arange(COUNT) % 1000])
    np.add.at(expected, np.arange(COUNT) % 1000, values[PLACES])
    for _ in range(ROUNDS):
        with wp.Tape() as tape:
            wp.launch(sum_up, COUNT, [x, places], [out], device=device)
        tape.backward(grads={out: wp.ones(64, dtype=float, device=device)})
        np.testing.assert_array_equal(x.grad.numpy(), expected)
        tape.zero()


def test_what_is_not_updated_stays_as_it_is(device):
    out = wp.array(np.full(1001, -0.0, dtype=np.float32), device=device)
    for _ in range(ROUNDS):
        wp.launch(two_sums, COUNT, [wp.array(PLACES, device=device), out, out], device=device)
    assert out.numpy()[1000] == 0.0
    assert np.signbit(out.numpy()[1000])
