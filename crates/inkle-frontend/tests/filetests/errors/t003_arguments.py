# test: errors
import inkle as wp


@wp.struct
class Cell:
    level: float
    mass: float


@wp.func
def add(x: float, y: float, scale: float = 1.0):
    return (x + y) * scale


@wp.kernel
def functions(f: float, out: wp.array(dtype=float)):
    a = add(f)
    b = add(f, f, f, f)
    c = add(f, f, weight=f)
    d = add(f, f, x=f)


@wp.kernel
def builtins(f: float, n: int, a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    wp.tid(1)
    for i in range():
        pass
    for j in range(0, n, 0):
        pass
    print(f, n)
    print(f, end="")
    wp.printf("%d %d\n", n)
    wp.printf("%q\n", n)
    wp.atomic_add(a, n, f)
    e = float(f, f)


@wp.kernel
def constructors(out: wp.array(dtype=float)):
    a = wp.vec3(1.0, 2.0)
    b = wp.quat(0.0, 1.0)
    c = Cell(1.0)
    d = wp.vec3(x=1.0)


@wp.kernel
def local_arrays(p: wp.uint64):
    a = wp.zeros(4, float, 3)
    b = wp.zeros(dtype=float)
    c = wp.zeros(4, shape=4)
    d = wp.zeros(4, device="cpu")


@wp.func
def swap(a: wp.ref[float], b: wp.ref[float]):
    a, b = b, a


@wp.kernel
def overlaps(i: int, out: wp.array(dtype=float)):
    v = wp.vec3()
    swap(v.x, v[0])
    swap(v.x, v[i])
    swap(v.x, v.y)
    swap(v[0], v[0])
