"""The mean correlation coefficient of two representations after the best one-to-one matching of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from unmix.measures.invariance import COLUMNWISE, Invariance
from unmix.measures.measure import LinearMeasure
from unmix.moments import Moments


@dataclass(frozen=True)
class MCC(LinearMeasure):
    """Mean |correlation| of matched columns: the matching from the train part, the correlations from the test part.

    Parameters
    ----------
    every_factor : y are factors to be found: each counts, one without a match as 0. Otherwise, of different widths,
        only the columns of the narrower side count.

    References
    ----------
    Hyvärinen & Morioka 2016.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 3))
    >>> m = Moments.of(x, x[:, [2, 0]] * [-1, 5])
    >>> round(MCC().score(m, m), 12)
    1.0
    """

    every_factor: bool = False
    assumes: ClassVar[str] = "single columns have a meaning, as after a sparse or independent code"
    reference: ClassVar[str] = "Hyvärinen & Morioka 2016"

    @property
    def name(self) -> str:
        return "MCC of factors" if self.every_factor else "MCC"

    @property
    def invariant_x(self) -> Invariance:
        return COLUMNWISE

    @property
    def jumps(self) -> bool:
        return True

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " p"]:
        x, y = linear_sum_assignment(np.abs(train.correlation), maximize=True)
        found = np.abs(test.correlation)[x, y]
        if not self.every_factor:
            return found
        parts = np.zeros(test.xy.shape[1])
        parts[y] = found
        return parts
