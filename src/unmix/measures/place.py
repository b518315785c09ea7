"""Whether tables share the place in the group: what is the same at the first row of every group, at the second …"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.special import stdtr

from unmix.measures.arrangements import Run

SIGNIFICANT_PLACE = 0.01


def follows_place(runs: Sequence[Run], table: Float64[ndarray, "m k"]) -> bool:
    """Whether a column of the table depends on the place in the group, whatever the group.

    With c_g a group's rows about their mean and m_g the mean of the other groups' c at each place, the cosines of c_g
    and m_g are 0 on average where the place says nothing: a t-test over groups, one-sided, Bonferroni over columns.
    Each pair of groups is in two of the cosines, so their sum varies twice as much as if they were independent.

    Examples
    --------
    >>> rng, runs = np.random.default_rng(0), [np.arange(200).reshape(20, 10)]
    >>> noise, ramp = rng.normal(size=(200, 1)), np.tile(np.arange(10.0), 20)[:, None]
    >>> follows_place(runs, noise), follows_place(runs, noise + ramp)
    (False, True)
    """
    cosines = [_cosines(table[run]) for run in runs if run.shape[1] > 1 and len(run) > 1]
    if not cosines:
        return False
    found = np.concatenate(cosines)
    n = len(found)
    if n < 3:
        return False
    error = np.maximum(found.std(0, ddof=1), 1e-12) * np.sqrt(2 / n)
    return bool((stdtr(n - 1, -found.mean(0) / error) <= SIGNIFICANT_PLACE / table.shape[1]).any())


def _cosines(rows: Float64[ndarray, "g s k"]) -> Float64[ndarray, "g k"]:
    """Of each group's rows, about their mean, with the mean of the other groups'."""
    rows = rows - rows.mean(1, keepdims=True)
    others = (rows.sum(0) - rows) / (len(rows) - 1)
    size = np.sqrt((rows**2).sum(1) * (others**2).sum(1))
    return (rows * others).sum(1) / np.where(size > 0, size, 1)
