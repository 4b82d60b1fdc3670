"""`wp.address_of`: places in memory for functions written in C++."""

import shutil

import numpy as np
import pytest
from _wp import wp

needs_clang = pytest.mark.skipif(
    not any(shutil.which(f"clang{v}") for v in ("-22", "")), reason="clang is not installed"
)


@wp.struct
class Inner:
    value: wp.float32


@wp.struct
class Outer:
    pad: wp.int32
    inner: Inner


@wp.func_native("*(float*)ptr += 1.0f;")
def count_up(ptr: wp.uint64): ...


@wp.kernel(enable_backward=False)
def places(outers: wp.array[Outer], values: wp.array[wp.float32], n: int, out: wp.array[wp.float32]):
    i = wp.tid()
    local = wp.float32(4.0)
    count_up(wp.address_of(local))
    local = local * 2.0
    count_up(wp.address_of(local))
    out[0] = local
    v = wp.vec3(1.0, 2.0, 3.0)
    count_up(wp.address_of(v.y))
    count_up(wp.address_of(v[2]))
    out[1] = v[0]
    out[2] = v[1]
    out[3] = v[2]
    box = Outer()
    box.inner.value = 10.0
    count_up(wp.address_of(box.inner.value))
    out[4] = box.inner.value
    count_up(wp.address_of(values[i]))
    count_up(wp.address_of(outers[i].inner.value))
    total = float(0.0)
    for k in range(n):
        turn = float(k)
        if k > 1:
            count_up(wp.address_of(turn))
        total += turn
    out[5] = total


@needs_clang
def test_addresses_lead_to_the_places_themselves(device):
    outers = wp.zeros(1, dtype=Outer, device=device)
    values = wp.array([7.0], dtype=wp.float32, device=device)
    out = wp.zeros(6, dtype=wp.float32, device=device)
    wp.launch(places, dim=1, inputs=[outers, values, 5, out], device=device)
    # 0 + 1 + 3 + 4 + 5: the last three turns were counted up.
    np.testing.assert_array_equal(out.numpy(), [11.0, 1.0, 3.0, 4.0, 11.0, 13.0])
    assert values.numpy()[0] == 8.0
    assert outers.numpy()[0]["inner"]["value"] == 1.0


@wp.func
def change(x: float, ptr: wp.uint64):
    count_up(ptr)
    count_up(wp.address_of(x))
    return x


@wp.kernel(enable_backward=False)
def parameters(start: float, flag: int, out: wp.array[wp.float32]):
    if flag > 0:
        y = start
        count_up(wp.address_of(y))
    else:
        y = 2.0
    out[0] = change(start, wp.address_of(start))
    out[1] = start
    out[2] = y


@needs_clang
@pytest.mark.parametrize("flag, last", [(1, 6.0), (0, 2.0)])
def test_parameters_and_branches(device, flag, last):
    out = wp.zeros(3, dtype=wp.float32, device=device)
    wp.launch(parameters, dim=1, inputs=[5.0, flag, out], device=device)
    # A function has its parameters to itself: what it was given is read before the address is used.
    np.testing.assert_array_equal(out.numpy(), [6.0, 6.0, last])


def test_an_array_element_has_the_address_that_python_sees(device):
    @wp.kernel
    def ask(a: wp.array2d[wp.float64], out: wp.array[wp.uint64]):
        out[0] = wp.address_of(a[1, 2])

    a = wp.zeros((2, 3), dtype=wp.float64, device=device)
    out = wp.zeros(1, dtype=wp.uint64, device=device)
    wp.launch(ask, dim=1, inputs=[a, out], device=device)
    assert int(out.numpy()[0]) == a.ptr + 5 * 8


def test_a_value_has_no_address():
    @wp.kernel
    def of_sum(x: int, out: wp.array[wp.uint64]):
        out[0] = wp.address_of(x + 1)

    with pytest.raises(wp.WarpCodegenError, match=r"(?s)`x \+ 1`, int32, has no address.*x = wp\.int32\(0\)"):
        wp.launch(of_sum, dim=1, inputs=[1, wp.zeros(1, dtype=wp.uint64)])
