# test: ir
import inkle as wp


@wp.func_native("out[i] = x * 2.0f;", adj_snippet="adj_x += 2.0f * adj_out[i];", replay_snippet="")
def double(x: float, out: wp.array(dtype=float), i: int): ...


@wp.func_native("return wp::vec_t<3, float>(x);")
def spread(x: float) -> wp.vec3: ...


@wp.func_native(snippet="WP_TILE_SYNC();")
def wait():
    pass


@wp.func_native("total += by; return total > 3.0f;")
def adds(total: wp.ref[float], by: float) -> bool: ...


@wp.kernel
def calls(out: wp.array(dtype=float), v: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    double(1.0, out, i)
    wait()
    v[i] = spread(out[i]) + spread(2.0)
    total = float(i)
    if adds(total, 0.5):
        adds(out[i], total)
