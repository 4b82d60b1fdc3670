# test: errors
import inkle as wp


@wp.func
def half(x: float):
    return x * 0.5


@wp.func
def pick(x: float):
    return x


@wp.func
def pick(x: int):
    return x


@wp.kernel
def builtins(n: int, f: float, v: wp.vec3i, out: wp.array(dtype=float)):
    a = wp.sqrt(n)
    b = min(f, n)
    c = wp.clamp(f, 0, 1)
    d = wp.length(v)
    e = len(f)
    g = wp.identity(n, float)
    h = isinstance(f, 1)


@wp.kernel
def functions(n: int, v: wp.vec3, d: wp.float64, out: wp.array(dtype=float)):
    a = half(n)
    b = half(v)
    c = pick(d)
    e = half(1)


@wp.kernel
def atomics(a: wp.array2d(dtype=float), b: wp.array(dtype=bool), out: wp.array(dtype=float)):
    wp.atomic_and(a, 0, 0, 1.0)
    wp.atomic_add(b, 0, True)
    wp.atomic_add(1.0, 0, 1.0)
    wp.atomic_cas(b, 0, True, False)
    wp.printf("%d\n", 1.5)
    wp.printf("%f\n", a)
