# test: ir
import inkle as wp


@wp.func
def tick(counter: wp.array(dtype=int), answer: bool) -> bool:
    counter[0] = counter[0] + 1
    return answer


@wp.kernel
def cheap(a: int, b: float, out: wp.array(dtype=bool)):
    out[0] = a > 0 and b > 0.0
    out[1] = a or b
    out[2] = not a
    out[3] = a > 0 and b < 1.0 or a == 3


@wp.kernel
def short_circuit(flag: bool, counter: wp.array(dtype=int), out: wp.array(dtype=bool)):
    out[0] = flag and tick(counter, True)
    out[1] = flag or tick(counter, False)
    out[2] = flag and counter[1] == 3 and tick(counter, True)


@wp.kernel
def missing_array(a: wp.array(dtype=int), i: int, out: wp.array(dtype=int)):
    if a and i >= 0 and a[i] == 3:
        out[0] = 1
    if not a:
        out[1] = 2
