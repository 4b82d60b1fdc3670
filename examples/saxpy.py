"""The smallest whole program: one kernel, launched over a million elements."""

import numpy as np

import inkle as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


n = 1_000_000
x = wp.array(np.arange(n, dtype=np.float32))
y = wp.ones(n, dtype=float)
wp.launch(saxpy, dim=n, inputs=[x, y, 2.0])
print(y.numpy()[:5])  # [1. 3. 5. 7. 9.]
