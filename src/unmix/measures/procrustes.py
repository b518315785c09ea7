"""How much of one representation a rotation of the other explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.indeterminacy.classes import procrustes
from unmix.measures.invariance import SIMILARITIES, Change, Invariance, to
from unmix.measures.measure import ExplainedShare
from unmix.moments import Moments


@dataclass(frozen=True)
class Procrustes(ExplainedShare):
    """1 − Σ‖y − s Q x‖²/Σ‖y‖² on held-out rows, for the rotation Q (and scale s) fitted on the train part.

    Both sums are over the folds. Rows are centred at the train means; of different widths, the narrower is padded with
    zeros. Unlike R² the residuals of all columns are summed before the ratio, which makes it invariant to rotations of
    y.

    Parameters
    ----------
    scaled : fit one scale too; without it s = 1.

    References
    ----------
    Schönemann 1966.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> m = Moments.of(x, 3 * x @ np.array([[0.0, 1.0], [-1.0, 0.0]]))
    >>> round(Procrustes().score(m, m), 12), Procrustes(scaled=False).score(m, m) < 0.6
    (1.0, True)
    """

    scaled: bool = True
    assumes: ClassVar[str] = "directions matter by their variance"
    reference: ClassVar[str] = "Schönemann 1966"

    @property
    def name(self) -> str:
        return "Procrustes" if self.scaled else "Procrustes, no scale"

    @property
    def mirrored(self) -> None:
        return None  # the residual is relative to y

    @property
    def invariant_x(self) -> Invariance:
        return SIMILARITIES if self.scaled else to(Change.ROTATION, Change.OFFSET)

    def squares(self, train: Moments, test: Moments) -> tuple[Float64[ndarray, " 1"], Float64[ndarray, " 1"]]:
        rotation, strength = procrustes(train)
        spread = np.trace(train.xx)
        scale = strength / spread if self.scaled and spread > 0 else 1.0
        x, y = test.mean_x - train.mean_x, test.mean_y - train.mean_y
        cross = np.sum(rotation.T * (test.xy + test.n * np.outer(x, y)))
        square_x = np.trace(test.xx) + test.n * x @ x
        total = test.squares_about(train.mean_y).sum()
        return np.atleast_1d(total - 2 * scale * cross + scale**2 * square_x), np.atleast_1d(total)
