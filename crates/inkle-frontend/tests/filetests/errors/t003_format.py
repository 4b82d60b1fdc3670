# test: errors
import inkle as wp


@wp.kernel
def an_integer_as_a_float(n: int):
    print(f"{n:.2f}")


@wp.kernel
def a_float_as_an_integer(v: wp.vec3):
    print(f"{v:04d}")


@wp.kernel
def unknown(f: float):
    print(f"{f:^12}")
