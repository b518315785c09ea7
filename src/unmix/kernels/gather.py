"""The compiled inner loop of the pass: rows in the order of their chunks, shifted, in float64, with their norms."""

from __future__ import annotations

import numpy as np

from unmix.kernels.jit import jit


@jit(fastmath={"reassoc", "contract"})  # sums in any order; NaN still shows
def gather(x, y, order, shift_x, shift_y, out):  # type: ignore[no-untyped-def]  # compiled
    """Row i of `out` becomes [1, ‖x̄‖², ‖ȳ‖², x̄, ȳ] for row order[i], x̄ = x − shift_x."""
    k, d = x.shape[1], y.shape[1]
    for i in range(order.shape[0]):
        row = order[i]
        line = out[i]
        square = 0.0
        for j in range(k):
            v = np.float64(x[row, j]) - shift_x[j]
            line[3 + j] = v
            square += v * v
        line[1] = square
        square = 0.0
        for j in range(d):
            v = np.float64(y[row, j]) - shift_y[j]
            line[3 + k + j] = v
            square += v * v
        line[0] = 1.0
        line[2] = square
