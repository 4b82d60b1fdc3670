# test: errors
import inkle as wp


@wp.kernel
def returns(x: float):
    return x


@wp.kernel
def promises(x: float) -> float:
    pass
