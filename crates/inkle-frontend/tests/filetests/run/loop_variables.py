# test: run
# run: reused(3) -> 12 3
# run: reused(0) -> 6 0
# run: unrolled(5) -> 8 2
import inkle as wp


@wp.kernel
def reused(n: int, out: wp.array(dtype=int)):
    c = wp.vec3i(1, 2, 3)
    sum = c[0] + c[1] + c[2]
    for c in range(n):
        out[1] += c
        sum += 2
    out[0] = sum


@wp.kernel
def unrolled(n: int, out: wp.array(dtype=int)):
    i = float(n)
    out[0] = int(i)
    for i in range(3):
        out[1] = i
        out[0] += 1
