"""Finite elements: not available in inkle yet, except for the struct of a sample point."""

from inkle import float32, int32, struct, vec2i, vec3
from inkle._planned import absent


@struct
class Sample:
    """A point at which a field is sampled."""

    element_index: int32
    element_coords: vec3
    qp_index: int32
    qp_weight: float32
    test_dof: vec2i
    trial_dof: vec2i


__getattr__ = absent("inkle.fem")
