"""Launches recorded with ``record_cmd`` or made from a kernel alone: setting their arguments and extents."""

import numpy as np
import pytest
from _wp import wp


@wp.struct
class Pair:
    i: int
    f: float


@wp.kernel
def add_up(pair: Pair, v: wp.vec3, n: int, out: wp.array[float]):
    out[wp.tid()] = float(pair.i) + pair.f + v[0] + float(n)


def test_a_launch_from_a_kernel_alone(device):
    out = wp.zeros(4, dtype=float, device=device)
    launch = wp.Launch(add_up, device)
    assert launch.bounds.size == 0
    launch.launch()
    launch.set_dim(2)
    launch.set_param_by_name("out", out)
    launch.launch()
    assert out.numpy().tolist() == [0, 0, 0, 0]
    launch.set_param_at_index(1, (1.5, 0.0, 0.0))
    launch.set_param_by_name_from_ctype("n", 2)
    launch.set_dim((3,))
    launch.launch()
    assert out.numpy().tolist() == [3.5, 3.5, 3.5, 0]
    assert (launch.bounds.shape, launch.bounds.ndim, launch.bounds.size) == ((3,), 1, 3)


def test_structs_are_passed_as_they_are_when_the_launch_runs(device):
    out = wp.zeros(1, dtype=float, device=device)
    pair = Pair()
    launch = wp.launch(add_up, dim=1, inputs=[pair, wp.vec3(), 0, out], device=device, record_cmd=True)
    for i, f in ((1, 0.5), (7, 2.0)):
        pair.i, pair.f = i, f
        launch.launch()
        assert out.numpy()[0] == i + f
    launch.set_params_from_ctypes([Pair().__ctype__(), wp.vec3(2.0, 0.0, 0.0), 1, out.__ctype__()])
    pair.i = 100
    launch.launch()
    assert out.numpy()[0] == 3.0


def test_one_value_is_no_vector(device):
    launch = wp.Launch(add_up, device)
    with pytest.raises(RuntimeError, match="argument 'v' expects vec3f but got a single value"):
        launch.set_param_at_index(1, 3.0)


@wp.kernel
def any_kernel(x: wp.array[wp.float64]):
    x[wp.tid()] = wp.float64(1.0)


@wp.kernel
def count_threads(out: wp.array[wp.int64]):
    if wp.static(False):
        out[wp.tid()] = wp.int64(0)
    wp.atomic_add(out, 0, wp.int64(1))


def test_extents_past_the_range_of_an_index(device):
    out = wp.zeros(1, dtype=wp.float64, device=device)
    with pytest.raises(ValueError, match=r"at most 2147483648, got extent 2147483649 in dimension 0"):
        wp.launch(any_kernel, dim=(2**31 + 1, 2), inputs=[out], device=device)
    # The largest indices fit, and nobody asks for those of the second dimension.
    for dim in (2**31, (1, 2**31 + 1), (1, 2**40)):
        largest = wp.launch(any_kernel, dim=dim, inputs=[out], device=device, record_cmd=True)
        assert largest.bounds.size == np.prod(dim, dtype=np.int64)
    # Of no threads, and of threads that do not ask for their index, there may be more.
    wp.launch(any_kernel, dim=(0, 2**40), inputs=[out], device=device)
    counted = wp.launch(
        count_threads,
        dim=2**31 + 1,
        inputs=[wp.zeros(1, dtype=wp.int64, device=device)],
        device=device,
        record_cmd=True,
    )
    assert counted.bounds.size == 2**31 + 1
    with pytest.raises(ValueError, match="too many threads"):
        counted.set_dim((2**31, 2**31, 2**31))
    assert counted.bounds.shape == (2**31 + 1,)
    assert np.all(out.numpy() == 0.0)


@wp.kernel
def last_index(out: wp.array[int]):
    i = wp.tid()
    if i < 0:
        out[0] = -1
    if i == 2147483647:
        out[0] = i


@wp.kernel
def last_row(out: wp.array[int]):
    i, j = wp.tid()
    if i == 1 and j == 2147483647:
        out[0] = j


def test_the_largest_extents_reach_their_last_index(device):
    for kernel, dim in ((last_index, 2**31), (last_row, (2, 2**31))):
        out = wp.zeros(1, dtype=int, device=device)
        wp.launch(kernel, dim=dim, inputs=[out], device=device)
        assert out.numpy()[0] == 2147483647
