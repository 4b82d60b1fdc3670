# test: ir
# A variable whose address is asked for lives in memory; elements and components have theirs anyway.
import inkle as wp


@wp.kernel
def addresses(a: wp.array2d(dtype=wp.vec3), n: int, out: wp.array(dtype=wp.uint64)):
    i = wp.tid()
    x = float(i)
    out[0] = wp.address_of(x)
    x += 1.0
    out[1] = wp.address_of(a[i, 2].y)
    if n > 3:
        v = wp.vec3(x)
        out[2] = wp.address_of(v[n])
    out[3] = wp.address_of(n)
