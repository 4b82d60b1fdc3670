"""Parameters annotated with ``wp.ref``: the function changes what the caller passes."""

import numpy as np
import pytest
from _wp import ON_WARP, wp


@wp.struct
class Inner:
    value: float


@wp.struct
class Body:
    inner: Inner
    velocity: wp.vec3
    frame: wp.mat33
    pose: wp.transform


@wp.func
def raise_by(x: wp.ref[float], by: float):
    if by > 0.0:
        x += by


@wp.func
def swap(a: wp.ref[float], b: wp.ref[float]):
    a, b = b, a


@wp.func
def take(x: wp.ref[float]) -> float:
    old, x = x, -1.0
    return old


@wp.func
def forward(body: wp.ref[Body], by: float):
    raise_by(body.inner.value, by)
    body.velocity[1] += by
    raise_by(body.pose.p.z, by)


@wp.func
def grow(x: wp.ref[wp.int32]):
    x *= 2
    return x > 100


@wp.kernel
def of_variables(out: wp.array[float]):
    x = float(1.0)
    for i in range(4):
        raise_by(x, float(i) - 1.0)
    out[0] = x
    y = float(7.0)
    swap(x, y)
    out[1] = x
    out[2] = y
    out[3] = take(y)
    out[4] = y


def test_variables(device):
    out = wp.zeros(5, dtype=float, device=device)
    wp.launch(of_variables, dim=1, outputs=[out], device=device)
    # 1 + 1 + 2: turns that subtract or add nothing leave the variable alone.
    np.testing.assert_array_equal(out.numpy(), [4, 7, 4, 4, -1])


@wp.kernel
def of_components(out: wp.array[float]):
    v = wp.vec3(1.0, 2.0, 3.0)
    swap(v.x, v[-1])
    m = wp.mat22(1.0, 2.0, 3.0, 4.0)
    raise_by(m[1, 0], 10.0)
    q = wp.quat(1.0, 2.0, 3.0, 4.0)
    i = int(out[0]) + 2
    raise_by(q[i], 10.0)
    copy = v.y
    raise_by(copy, 10.0)
    for j in range(3):
        out[j] = v[j]
    for j in range(4):
        out[3 + j] = m[j // 2, j % 2]
        out[7 + j] = q[j]
    out[11] = copy


def test_components(device):
    out = wp.zeros(12, dtype=float, device=device)
    wp.launch(of_components, dim=1, outputs=[out], device=device)
    np.testing.assert_array_equal(out.numpy(), [3, 2, 1, 1, 2, 13, 4, 1, 2, 13, 4, 12])


@wp.kernel
def of_elements(bodies: wp.array[Body], values: wp.array2d[float], row: int):
    i = wp.tid()
    forward(bodies[i], float(i + 1))
    raise_by(bodies[i].frame[2, 1], 5.0)
    swap(values[row, i], values[row + 1, i])
    part = values[row]
    raise_by(part[i], 0.5)


def test_elements(device):
    bodies = wp.zeros(3, dtype=Body, device=device)
    start = np.arange(12, dtype=np.float32).reshape(4, 3)
    values = wp.array(start, device=device)
    wp.launch(of_elements, dim=3, inputs=[bodies, values, 1], device=device)
    wanted = start.copy()
    wanted[[1, 2]] = start[[2, 1]]
    wanted[1] += 0.5
    np.testing.assert_array_equal(values.numpy(), wanted)
    found = bodies.numpy()
    np.testing.assert_array_equal(found["inner"]["value"], [1, 2, 3])
    np.testing.assert_array_equal(found["velocity"], [[0, 1, 0], [0, 2, 0], [0, 3, 0]])
    np.testing.assert_array_equal(found["frame"][:, 2, 1], [5, 5, 5])
    np.testing.assert_array_equal(found["pose"][:, :3], [[0, 0, 1], [0, 0, 2], [0, 0, 3]])


@wp.kernel
def one_field_each(bodies: wp.array[Body]):
    i = wp.tid()
    # Only the field is written: threads that change other fields of the same element are not disturbed.
    if i % 2 == 0:
        raise_by(bodies[i // 2].inner.value, 1.0)
    else:
        raise_by(bodies[i // 2].velocity.y, 2.0)


def test_elements_are_changed_in_place(device):
    bodies = wp.zeros(1000, dtype=Body, device=device)
    wp.launch(one_field_each, dim=2000, inputs=[bodies], device=device)
    found = bodies.numpy()
    np.testing.assert_array_equal(found["inner"]["value"], np.full(1000, 1.0))
    np.testing.assert_array_equal(found["velocity"][:, 1], np.full(1000, 2.0))


@wp.kernel
def in_conditions(out: wp.array[int]):
    n = int(1)
    turns = int(0)
    while not grow(n):
        turns += 1
    out[0] = n
    out[1] = turns


def test_a_loop_condition_that_changes_a_variable(device):
    out = wp.zeros(2, dtype=int, device=device)
    wp.launch(in_conditions, dim=1, outputs=[out], device=device)
    assert out.numpy().tolist() == [128, 6]


def test_closures_and_other_names(device):
    def make(function):
        another_name = function

        @wp.kernel
        def looping(out: wp.array[float]):
            x = float(0.0)
            for _i in range(out.shape[0]):
                another_name(x, 1.0)
            out[0] = x

        return looping

    out = wp.zeros(20, dtype=float, device=device)
    wp.launch(make(raise_by), dim=1, outputs=[out], device=device)
    assert out.numpy()[0] == 20.0


@wp.func
def triple(x: wp.ref[wp.int32]):
    x *= 3
    return x > 100


CHOICES = (grow, triple)


class Named:
    grow = grow


@wp.struct
class Seed:
    x: int

    @wp.func
    def grow(x: wp.ref[wp.int32]):
        x *= 2


@wp.kernel
def called_in_loops_by_other_names(n: int, out: wp.array[int], numbers: wp.array[float]):
    a, b, c, d, e = int(1), int(1), int(1), int(1), int(1)
    for _i in range(n):
        wp.static(grow)(a)
        larger = grow
        larger(b)
        Seed.grow(c)
        Named.grow(d)
        for k in range(2):
            wp.static(CHOICES[k])(e)
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d
    out[4] = e
    f = int(1)
    while not wp.static(grow)(f):
        f += n - 5
    out[5] = f
    one, other = wp.rand_init(7), wp.rand_init(7)
    for i in range(n):
        numbers[2 * i] = wp.randf(one)
        numbers[2 * i + 1] = wp.static(wp.randf)(other)


def test_functions_called_in_loops_by_other_names_change_what_they_are_given(device):
    out, numbers = wp.zeros(6, dtype=int, device=device), wp.zeros(10, dtype=float, device=device)
    wp.launch(called_in_loops_by_other_names, dim=1, inputs=[5, out, numbers], device=device)
    assert out.numpy().tolist() == [32, 32, 32, 32, 6**5, 128]
    one, other = numbers.numpy().reshape(5, 2).T
    assert len(set(one.tolist())) == 5 and one.tolist() == other.tolist()


@wp.struct
class Stream:
    state: wp.uint32


@wp.func
def two_numbers(state: wp.ref[wp.uint32]):
    return wp.vec2(wp.randf(state), wp.randf(state))


@wp.kernel
def numbers_of_states(states: wp.array[wp.uint32], streams: wp.array[Stream], out: wp.array2d[float]):
    state = states[0]
    out[0, 0], out[0, 1] = wp.randf(state), wp.randf(state)
    out[1, 0], out[1, 1] = wp.randf(states[0]), wp.randf(states[0])
    stream = Stream()
    stream.state = states[0]
    out[2, 0], out[2, 1] = wp.randf(stream.state), wp.randf(stream.state)
    out[3, 0], out[3, 1] = wp.randf(streams[0].state), wp.randf(streams[0].state)
    pair = wp.vec2ui(states[0], states[0])
    out[4, 0], out[4, 1] = wp.randf(pair[0]), wp.randf(pair[0])
    out[5, 0], out[5, 1] = wp.randf(wp.rand_init(3)), wp.randf(wp.rand_init(3))


def test_only_variables_advance_as_states_of_random_numbers(device):
    states = wp.array([7], dtype=wp.uint32, device=device)
    seven = Stream()
    seven.state = 7
    streams = wp.array([seven], dtype=Stream, device=device)
    out = wp.zeros((6, 2), dtype=float, device=device)
    wp.launch(numbers_of_states, dim=1, inputs=[states, streams, out], device=device)
    out = out.numpy()
    assert out[0, 0] != out[0, 1]
    assert (out[1:, 0] == out[1:, 1]).all() and (out[1:5] == out[0, 0]).all()
    assert states.numpy().tolist() == [7] and streams.numpy()["state"].tolist() == [7]


@wp.kernel(enable_backward=False)
def numbers_by_reference(states: wp.array[wp.uint32], out: wp.array[wp.vec2]):
    out[0] = two_numbers(states[0])


@pytest.mark.skipif(ON_WARP, reason="Warp differs: what a reference refers to does not advance")
def test_a_state_advances_by_reference(device):
    states, out = wp.array([7], dtype=wp.uint32, device=device), wp.zeros(1, dtype=wp.vec2, device=device)
    wp.launch(numbers_by_reference, dim=1, inputs=[states, out], device=device)
    assert out.numpy()[0, 0] != out.numpy()[0, 1] and states.numpy().tolist() != [7]


def test_the_annotation():
    assert wp.ref[wp.int32] == wp.ref[int]
    assert hash(wp.ref[wp.int32]) == hash(wp.ref[int])
    assert wp.ref[wp.int32] != wp.ref[wp.float32]
    assert wp.ref[wp.vec3].dtype is wp.vec3
    assert repr(wp.ref[wp.float64]) == "wp.ref[float64]"
    with pytest.raises(TypeError, match="type of a value"):
        wp.ref[3]


def test_overloads_that_only_differ_in_references():
    @wp.func
    def same(x: wp.int32):
        return x

    with pytest.raises(RuntimeError, match="differ only in `wp.ref`"):

        @wp.func
        def same(x: wp.ref[wp.int32]):
            x += 1


def test_a_kernel_takes_no_reference():
    @wp.kernel
    def wrong(x: wp.ref[float]):
        x = 1.0  # noqa: F841

    with pytest.raises(wp.CompileError, match="launches pass values"):
        wp.launch(wrong, dim=1, inputs=[1.0])
