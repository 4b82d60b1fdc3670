"""Copies, fills and assignments on a tape, of every kind of array."""

import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: such copies lose or double gradients there")

wp.set_module_options({"enable_backward": True})


@wp.struct
class Body:
    speed: wp.vec3
    mass: float
    group: int


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = x[wp.tid()] * x[wp.tid()]


@wp.kernel
def square_2d(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[i, j] = x[i, j] * x[i, j]


@wp.kernel
def energies(bodies: wp.array(dtype=Body), out: wp.array(dtype=float)):
    b = bodies[wp.tid()]
    out[wp.tid()] = b.mass * wp.dot(b.speed, b.speed)


@wp.kernel
def lengths(q: wp.array(dtype=wp.quat), out: wp.array(dtype=float)):
    out[wp.tid()] = wp.length_sq(q[wp.tid()])


@wp.kernel
def to_bits(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    out[wp.tid()] = x[wp.tid()]


def values(data, device):
    return wp.array(data, dtype=float, device=device, requires_grad=True)


def fresh(device, n):
    return wp.zeros(n, dtype=float, device=device, requires_grad=True)


def ones(array):
    return wp.ones_like(array)


@pytest.mark.parametrize("how", ["copy", "assign", "clone", "contiguous"])
def test_from_an_indexed_array(device, how):
    x, z = values([1.0, 2.0, 3.0, 4.0], device), fresh(device, 3)
    seen = wp.indexedarray(x, wp.array([3, 1, 1], dtype=int, device=device))
    y = fresh(device, 3)
    with wp.Tape() as tape:
        if how == "copy":
            wp.copy(y, seen)
        elif how == "assign":
            y.assign(seen)
        elif how == "clone":
            y = wp.clone(seen)
        else:
            y = seen.contiguous()
        wp.launch(square, 3, [y], [z], device=device)
    np.testing.assert_allclose(y.numpy(), [4.0, 2.0, 2.0])
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 8.0, 0.0, 8.0])


def test_into_an_indexed_array(device):
    x, y, z = values([1.0, 2.0], device), values([5.0, 6.0, 7.0], device), fresh(device, 3)
    seen = wp.indexedarray(y, wp.array([2, 0], dtype=int, device=device))
    with wp.Tape() as tape:
        wp.copy(seen, x)
        wp.launch(square, 3, [y], [z], device=device)
    np.testing.assert_allclose(y.numpy(), [2.0, 6.0, 1.0])
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(x.grad.numpy(), [2.0, 4.0])
    # What they were before has no part in what came after.
    np.testing.assert_allclose(y.grad.numpy(), [0.0, 12.0, 0.0])


def test_from_one_indexed_array_into_another(device):
    x, y, z = (
        values([[1.0, 2.0], [3.0, 4.0]], device),
        values(np.zeros((2, 3)), device),
        values(np.zeros((2, 3)), device),
    )
    rows = wp.array([1, 0], dtype=int, device=device)
    columns = wp.array([0, 2], dtype=int, device=device)
    with wp.Tape() as tape:
        wp.copy(wp.indexedarray(y, [None, columns]), wp.indexedarray(x, [rows, None]))
        wp.launch(square_2d, (2, 3), [y], [z], device=device)
    np.testing.assert_allclose(y.numpy(), [[3.0, 0.0, 4.0], [1.0, 0.0, 2.0]])
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(x.grad.numpy(), [[2.0, 4.0], [6.0, 8.0]])


@pytest.mark.parametrize("how", ["fill", "zero", "assign"])
def test_constants_into_an_indexed_array_stop_gradients(device, how):
    x, y, z = values([1.0, 2.0, 3.0], device), fresh(device, 3), fresh(device, 3)
    seen = wp.indexedarray(y, wp.array([1], dtype=int, device=device))
    with wp.Tape() as tape:
        wp.launch(square, 3, [x], [y], device=device)
        if how == "fill":
            seen.fill_(3.0)
        elif how == "zero":
            seen.zero_()
        else:
            seen.assign(np.array([3.0]))
        wp.launch(square, 3, [y], [z], device=device)
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(x.grad.numpy(), [4.0, 0.0, 108.0])


@pytest.mark.parametrize("value", [7.0, [7.0], "array"])
def test_an_element_that_the_program_sets_stops_gradients(device, value):
    x, y, z = values([1.0, 2.0, 3.0], device), fresh(device, 3), fresh(device, 3)
    w = values([2.0], device)
    with wp.Tape() as tape:
        wp.launch(square, 3, [x], [y], device=device)
        y[1:2] = w if value == "array" else value
        wp.launch(square, 3, [y], [z], device=device)
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(x.grad.numpy(), [4.0, 0.0, 108.0])
    np.testing.assert_allclose(w.grad.numpy(), [4.0 if value == "array" else 0.0])


def test_a_copy_within_an_array(device):
    y, z = values([1.0, 2.0, 3.0, 4.0], device), fresh(device, 4)
    with wp.Tape() as tape:
        wp.copy(y, y, dest_offset=1, src_offset=0, count=3)
        wp.launch(to_bits, 4, [y], [z], device=device)
    np.testing.assert_allclose(y.numpy(), [1.0, 1.0, 2.0, 3.0])
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(y.grad.numpy(), [2.0, 1.0, 1.0, 0.0])


def test_between_columns_of_one_array(device):
    y = values([[1.0, 2.0], [3.0, 4.0]], device)
    z = values(np.zeros((2, 2)), device)
    with wp.Tape() as tape:
        wp.copy(y[:, 1], y[:, 0])
        wp.launch(square_2d, (2, 2), [y], [z], device=device)
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(y.grad.numpy(), [[4.0, 0.0], [12.0, 0.0]])


def test_of_structs(device):
    data = np.zeros(2, dtype=Body.numpy_dtype())
    data["speed"], data["mass"] = [[1.0, 2.0, 2.0], [0.0, 3.0, 4.0]], [2.0, 3.0]
    bodies = wp.array(data, dtype=Body, device=device, requires_grad=True)
    out, other = fresh(device, 2), fresh(device, 2)
    with wp.Tape() as tape:
        copies = wp.clone(bodies)
        wp.launch(energies, 2, [copies], [out], device=device)
        wp.launch(energies, 2, [bodies], [other], device=device)
    tape.backward(grads={out: ones(out), other: ones(other)})
    grad = bodies.grad.numpy()
    np.testing.assert_allclose(grad["mass"], [18.0, 50.0])
    np.testing.assert_allclose(grad["speed"], 4.0 * data["mass"][:, None] * data["speed"])
    np.testing.assert_allclose(grad["group"], 0)
    np.testing.assert_allclose(copies.grad.numpy()["mass"], 0.0)


def test_between_types_of_the_same_floats(device):
    v = wp.array([[1.0, 2.0, 3.0, 4.0]], dtype=wp.vec4, device=device, requires_grad=True)
    q = wp.zeros(1, dtype=wp.quat, device=device, requires_grad=True)
    out = fresh(device, 1)
    with wp.Tape() as tape:
        wp.copy(q, v)
        wp.launch(lengths, 1, [q], [out], device=device)
    tape.backward(out)
    np.testing.assert_allclose(v.grad.numpy(), [[2.0, 4.0, 6.0, 8.0]])


def test_between_other_types_is_refused(device):
    x = values([1.0], device)
    halves = wp.zeros(1, dtype=wp.types.vector(length=2, dtype=wp.float16), device=device, requires_grad=True)
    with wp.Tape(), pytest.raises(RuntimeError, match="cannot be differentiated: the elements are not the same floats"):
        wp.copy(x, halves)


def test_algorithms_without_gradients_of_their_own_stop_them_and_say_so(device):
    x, y, z = values([1.0, 2.0], device), fresh(device, 2), fresh(device, 2)
    keys = wp.array([0, 1, 0, 0], dtype=int, device=device)
    both = fresh(device, 4)
    with wp.Tape() as tape, pytest.warns(UserWarning, match="radix_sort_pairs is not differentiated"):
        wp.copy(both, x, count=2)
        wp.utils.radix_sort_pairs(keys, both, 2)
        wp.copy(y, both, count=2)
        wp.launch(square, 2, [y], [z], device=device)
    tape.backward(grads={z: ones(z)})
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 0.0])


@pytest.mark.parametrize("count", [None, 3])
def test_the_gradient_of_a_sum(device, count):
    x, y, total, z = values([1.0, 2.0, 3.0, 4.0], device), fresh(device, 4), fresh(device, 1), fresh(device, 1)
    with wp.Tape() as tape:
        wp.launch(square, 4, [x], [y], device=device)
        wp.utils.array_sum(y, out=total, value_count=count)
        wp.launch(square, 1, [total], [z], device=device)
    tape.backward(z)
    sums = np.array([1.0, 4.0, 9.0, 16.0])[:count].sum()
    expected = 2.0 * sums * 2.0 * np.array([1.0, 2.0, 3.0, 4.0])
    expected[count or 4 :] = 0.0
    np.testing.assert_allclose(x.grad.numpy(), expected)
    assert total.grad.numpy()[0] == 0.0


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_gradient_of_sums_along_an_axis(device, axis):
    x = wp.array(np.ones((3, 4, 3)), dtype=wp.vec3, device=device, requires_grad=True)
    shape = [1 if i == axis % 2 else n for i, n in enumerate(x.shape)]
    out = wp.zeros(shape, dtype=wp.vec3, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.utils.array_sum(x, out=out, axis=axis)
    seeds = np.arange(np.prod(shape) * 3, dtype=np.float32).reshape(*shape, 3)
    tape.backward(grads={out: wp.array(seeds, dtype=wp.vec3, device=device)})
    np.testing.assert_array_equal(x.grad.numpy(), np.broadcast_to(seeds, (3, 4, 3)))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_gradient_of_inner_products(device, axis):
    rng = np.random.default_rng(2)
    data = [rng.random((3, 4, 3)).astype(np.float32) for _ in range(2)]
    a, b = (wp.array(d, dtype=wp.vec3, device=device, requires_grad=True) for d in data)
    shape = [1] if axis is None else [1 if i == axis else n for i, n in enumerate(a.shape)]
    out = wp.zeros(shape, dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.utils.array_inner(a, b, out=out, axis=axis)
    seeds = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
    tape.backward(grads={out: wp.array(seeds, dtype=float, device=device)})
    spread = np.broadcast_to(seeds.reshape(1, 1) if axis is None else seeds, (3, 4))[:, :, None]
    np.testing.assert_allclose(a.grad.numpy(), data[1] * spread, 1e-6)
    np.testing.assert_allclose(b.grad.numpy(), data[0] * spread, 1e-6)


def test_the_gradient_of_an_inner_product_with_itself(device):
    x, out = values([1.0, 2.0, 3.0], device), fresh(device, 1)
    with wp.Tape() as tape:
        wp.utils.array_inner(x, x, out=out)
    tape.backward(out)
    np.testing.assert_allclose(x.grad.numpy(), [2.0, 4.0, 6.0])


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("in_place", [True, False])
def test_the_gradient_of_running_sums(device, inclusive, in_place):
    x, y, z = values([1.0, 2.0, 3.0], device), fresh(device, 3), fresh(device, 3)
    out = y if in_place else z
    with wp.Tape() as tape:
        wp.copy(y, x)
        wp.utils.array_scan(y, out, inclusive)
    tape.backward(grads={out: wp.array([1.0, 10.0, 100.0], dtype=float, device=device)})
    np.testing.assert_allclose(x.grad.numpy(), [111.0, 110.0, 100.0] if inclusive else [110.0, 100.0, 0.0])


def test_the_gradient_of_a_conversion(device):
    x = values([1.0, 2.0, 3.0], device)
    y = wp.zeros(3, dtype=wp.float64, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.utils.array_cast(x, y, count=2)
    tape.backward(grads={y: wp.array([1.0, 2.0, 4.0], dtype=wp.float64, device=device)})
    np.testing.assert_allclose(x.grad.numpy(), [1.0, 2.0, 0.0])


def test_algorithms_without_gradients_say_nothing(device, recwarn):
    x, y = wp.zeros(2, dtype=float, device=device), wp.zeros(2, dtype=float, device=device)
    with wp.Tape():
        wp.utils.array_scan(x, y)
    assert len(recwarn) == 0
