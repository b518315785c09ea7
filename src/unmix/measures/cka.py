"""Linear centred kernel alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.measures.hsic import ratio, unbiased_hsic
from unmix.measures.invariance import SIMILARITIES, Invariance
from unmix.measures.measure import LinearMeasure
from unmix.moments import Moments

CANCELLED = 1e-8


@dataclass(frozen=True)
class CKA(LinearMeasure):
    """HSIC(x, y)/√(HSIC(x, x) HSIC(y, y)) with linear kernels; nothing is fitted, so all rows are scored.

    Biased: ‖Σxy‖²/(‖Σxx‖ ‖Σyy‖), which is also called RV and grows with the width. Debiased: the unbiased
    estimator of HSIC, which for independent x and y is 0 on average and can be negative. Both from moments alone:
    with K̃ the kernel matrix without its diagonal, tr(K̃L̃) = ‖XᵀY‖² − Σ‖x‖²‖y‖², and likewise for its row sums.

    References
    ----------
    Kornblith et al. 2019; unbiased HSIC: Song et al. 2012.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> m = Moments.of(x, 3 * x[:, ::-1] + 1)
    >>> round(CKA().score(m, m), 12), round(CKA(debiased=False).score(m, m), 12)
    (1.0, 1.0)
    """

    debiased: bool = True
    fitted: ClassVar[bool] = False
    assumes: ClassVar[str] = "directions matter by the square of their variance: a few large ones decide"
    reference: ClassVar[str] = "Kornblith et al. 2019"

    @property
    def name(self) -> str:
        return "CKA" if self.debiased else "CKA, biased"

    @property
    def invariant_x(self) -> Invariance:
        return SIMILARITIES

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return "unbiased HSIC needs more than 3 rows" if self.debiased and train_rows <= 3 else None

    def unfit(self, moments: Moments) -> str | None:
        _, ours, theirs = _unbiased(moments)
        for hsic, gram in ((ours, moments.xx), (theirs, moments.yy)):
            if self.debiased and hsic < CANCELLED * np.sum(gram**2):
                return "one row outweighs all the others so far that float64 cannot tell: remove or clip it"
        return None

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " 1"]:
        m = test
        if self.debiased:
            return np.atleast_1d(ratio(*_unbiased(m)))
        return np.atleast_1d(ratio(*(float(np.sum(gram**2)) for gram in (m.xy, m.xx, m.yy))))


def _unbiased(m: Moments) -> tuple[float, float, float]:
    """Unbiased HSIC of (x, y), (x, x) and (y, y), from moments about the means.

    Since centred rows sum to 0, the row sums of K̃ are −‖x‖²: 1ᵀK̃1 = −Σ‖x‖² and 1ᵀK̃L̃1 = Σ‖x‖²‖y‖².
    """
    tx, ty = np.trace(m.xx), np.trace(m.yy)
    xx, xy, yy = m.norms
    return (
        unbiased_hsic(m.n, float(np.sum(m.xy**2) - xy), xy, tx, ty),
        unbiased_hsic(m.n, float(np.sum(m.xx**2) - xx), xx, tx, tx),
        unbiased_hsic(m.n, float(np.sum(m.yy**2) - yy), yy, ty, ty),
    )
