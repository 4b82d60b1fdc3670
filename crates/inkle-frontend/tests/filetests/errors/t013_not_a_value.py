# test: errors
import inkle as wp


@wp.func
def nothing(a: wp.array(dtype=float)):
    a[0] = 1.0


@wp.func
def shape(x: Unknown):
    return 1.0


@wp.kernel
def values(out: wp.array(dtype=float)):
    x = None
    y = nothing(out)
    out[0] = wp.vec3
    out[1] = "text"
    z = wp.vector(1.0, dtype=3)
    w = [1.0]


@wp.kernel
def annotation(x: 3, out: wp.array(dtype=float)):
    out[0] = 1.0


@wp.kernel
def function_annotation(out: wp.array(dtype=float)):
    out[0] = shape(1.0)


@wp.kernel
def by_reference(out: wp.array(dtype=float)):
    wp.quat_to_axis_angle(wp.quat(), wp.vec3(), 1.0)


@wp.func
def change(x: wp.ref[float]):
    x += 1.0


@wp.kernel
def temporaries(out: wp.array(dtype=float)):
    change(1.0)
    change(out[0] + 1.0)
    change(wp.vec3().x)


@wp.kernel
def address_of_a_value(x: int, out: wp.array(dtype=wp.uint64)):
    out[0] = wp.address_of(x + 1)
