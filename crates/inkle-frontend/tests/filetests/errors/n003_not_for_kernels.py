# test: errors
import inkle as wp


import os

TABLE = open("x")


def plain(x):
    return x


@wp.kernel
def other(out: wp.array(dtype=float)):
    out[0] = plain(1.0)


@wp.kernel
def uses(out: wp.array(dtype=float)):
    out[0] = TABLE
    out[1] = os.path
    other(out)
    x = sum(1.0)


@wp.kernel
def array_type(out: wp.array(dtype=float)):
    x = wp.array2d
