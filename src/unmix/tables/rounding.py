"""Columns that would be constant but for rounding."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float64, Num
from numpy import ndarray

# A number that is rounded once is off by at most half an epsilon of its size, a sum of k such terms by about √k of
# that: eight epsilons are the noise of some hundred operations. What varies by more than that may mean something.
EPSILONS = 8
SINGLE, DOUBLE = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)
STEP = 2**14


def only_rounding(
    table: Num[ndarray, "n k"],
    mean: Float64[ndarray, " k"] | None = None,
    deviation: Float64[ndarray, " k"] | None = None,
) -> Bool[ndarray, " k"]:
    """Which columns vary, but by no more than the rounding of numbers of their size.

    The epsilon is that of the numbers, not of the array: what was computed in single precision has its noise in an
    array of doubles too. Whole numbers are counted, not rounded, however large and alike they are. Of a column about 0
    it cannot be told.

    Parameters
    ----------
    mean, deviation : of the columns, where they are known.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=100)
    >>> only_rounding(np.stack([1 + 1e-15 * noise, 1 + 1e-6 * noise, 1e15 + (noise > 0), np.ones(100)], 1)).tolist()
    [True, False, False, False]
    """
    if mean is None or deviation is None:
        rows = np.asarray(table, np.float64)
        with np.errstate(all="ignore"):  # of columns too large, which are refused elsewhere
            mean, deviation = rows.mean(0), rows.std(0)
    found = (deviation > 0) & (deviation <= EPSILONS * SINGLE * np.abs(mean))
    if not (columns := np.flatnonzero(found)).size:
        return found
    whole, single = np.ones((2, len(columns)), bool)
    for a in range(0, len(table), STEP):
        part = np.asarray(table[a : a + STEP], np.float64)[:, columns]
        whole &= (part == np.round(part)).all(0)
        with np.errstate(over="ignore"):
            single &= (part == part.astype(np.float32)).all(0)
    epsilon = np.where(single, SINGLE, DOUBLE)
    found[columns] = ~whole & (deviation[columns] <= EPSILONS * epsilon * np.abs(mean[columns]))
    return found
