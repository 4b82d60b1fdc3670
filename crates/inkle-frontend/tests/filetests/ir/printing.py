# test: ir
import inkle as wp


@wp.kernel
def prints(n: int, f: float, b: bool, v: wp.vec3, q: wp.quat, l: wp.int64):
    print(n)
    print(f)
    print(b)
    print(v)
    print(q)
    print("text 100%")
    print(f"n = {n}, v = {v}")
    print(f"{f:.2f} {v:+8.3e} {l:>06d} {n:<4x}|{f:9}")
    wp.printf("%d %5.2f %lld %s %%\n", n, f, l, "text")
    wp.breakpoint()
    assert n > 0, "n is too small"
    wp.expect_eq(n, 3)
