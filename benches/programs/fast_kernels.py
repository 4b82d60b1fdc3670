"""The n-body kernel under `fast_math`, which is a choice of a whole module."""

from kernels import SOFTENING, wp

wp.set_module_options({"fast_math": True})


@wp.kernel
def fast_nbody(
    position: wp.array(dtype=wp.vec3),
    velocity: wp.array(dtype=wp.vec3),
    result: wp.array(dtype=wp.vec3),
    n: int,
    dt: float,
):
    i = wp.tid()
    here = position[i]
    force = wp.vec3(0.0, 0.0, 0.0)
    for j in range(n):
        d = position[j] - here
        inverse = 1.0 / wp.sqrt(wp.dot(d, d) + SOFTENING)
        force += d * (inverse * inverse * inverse)
    result[i] = velocity[i] + force * dt
