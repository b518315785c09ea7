"""Canonical correlations, held out, and their two projected versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.errors import require
from unmix.measures.invariance import AFFINE_MAPS, SIMILARITIES, Change, Invariance, to
from unmix.measures.measure import LinearMeasure, wide
from unmix.moments import Moments
from unmix.moments.whitening import RANK_CUT, whitening


@dataclass(frozen=True, eq=False)
class Directions:
    """Pairs of canonical directions, the most correlated first, and their correlations on the rows of the fit."""

    x: Float64[ndarray, "k p"]
    y: Float64[ndarray, "d p"]
    rho: Float64[ndarray, " p"]

    def correlations(self, m: Moments) -> Float64[ndarray, " p"]:
        """The correlation of each pair of variates on other rows; signed, and 0 where a variate is constant."""
        cross = (self.x * (m.xy @ self.y)).sum(0)
        spread_x, spread_y = (self.x * (m.xx @ self.x)).sum(0), (self.y * (m.yy @ self.y)).sum(0)
        varies = (spread_x > 0) & (spread_y > 0)
        scale = np.where(varies, np.sqrt(np.abs(spread_x)) * np.sqrt(np.abs(spread_y)), 1.0)
        return np.where(varies, cross / scale, 0.0)


def directions(
    m: Moments, root_x: Float64[ndarray, "k p"] | None = None, root_y: Float64[ndarray, "d q"] | None = None
) -> Directions:
    """The canonical directions: singular vectors of the whitened cross-covariance, cut at the lesser rank.

    Parameters
    ----------
    root_x, root_y : whitenings to use instead of the full ones, R with Rᵀ Σ R = I.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 3))
    >>> np.round(directions(Moments.of(x, x[:, :2] @ np.array([[2.0, 1.0], [0.0, 1.0]]))).rho, 9).tolist()
    [1.0, 1.0]
    """
    root_x = whitening(m.xx) if root_x is None else root_x
    root_y = whitening(m.yy) if root_y is None else root_y
    u, rho, vt = np.linalg.svd(root_x.T @ m.xy @ root_y, full_matrices=False)
    return Directions(root_x @ u, root_y @ vt.T, np.clip(rho, 0, 1))


@dataclass(frozen=True)
class CCA(LinearMeasure):
    """The mean canonical correlation: directions from the train part, their correlations ρ on the test part.

    With `squared` the mean of ρ². All min(rank x, rank y) directions count. In sample, on n rows, noise of k and d
    columns scores about √((k + d)/n); held out it scores 0.

    References
    ----------
    Hotelling 1936; Roeder et al. 2021 (who score in sample).
    """

    squared: bool = False
    assumes: ClassVar[str] = "many more rows than columns"
    reference: ClassVar[str] = "Hotelling 1936; Roeder et al. 2021"

    @property
    def name(self) -> str:
        return "CCA ρ²" if self.squared else "CCA ρ"

    @property
    def invariant_x(self) -> Invariance:
        return AFFINE_MAPS

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x, width_y)

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " p"]:
        rho = directions(train).correlations(test)
        return rho**2 if self.squared else rho


@dataclass(frozen=True)
class SVCCA(LinearMeasure):
    """CCA of the leading principal components of each side, centred and in the columns' own units.

    Parameters
    ----------
    components : how many, or
    variance : as many as hold this share of the variance (one of the two).

    References
    ----------
    Raghu et al. 2017; Roeder et al. 2021, Figure 4 (by number, columns z-scored).
    """

    components: int | None = None
    variance: float | None = None
    assumes: ClassVar[str] = "directions of little variance do not matter"
    reference: ClassVar[str] = "Raghu et al. 2017"

    def __post_init__(self) -> None:
        one = (self.components is None) != (self.variance is None)
        require(one, "SVCCA takes either components or variance, e.g. SVCCA(components=16) or SVCCA(variance=0.99).")
        whole = self.components is None or (isinstance(self.components, int) and self.components >= 1)
        require(whole, f"components must be a whole number of at least 1, not {self.components}.")
        require(self.variance is None or 0 < self.variance <= 1, f"variance must be in (0, 1], not {self.variance}.")

    @property
    def name(self) -> str:
        return f"SVCCA {self.components}" if self.variance is None else f"SVCCA {100 * self.variance:g} %"

    @property
    def invariant_x(self) -> Invariance:
        return SIMILARITIES

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x, width_y)

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " p"]:
        return directions(train, self._leading(train.xx), self._leading(train.yy)).correlations(test)

    def _leading(self, covariance: Float64[ndarray, "k k"]) -> Float64[ndarray, "k p"]:
        values, vectors = np.linalg.eigh(covariance)
        values, vectors = values[::-1], vectors[:, ::-1]
        rank = int((values > values[0] * RANK_CUT).sum())
        if self.variance is None:
            kept = min(self.components or 0, rank)
        else:  # a share of 1 means all of the rank
            share = np.cumsum(values[:rank]) / values[:rank].sum()
            kept = min(int(np.searchsorted(share, self.variance * (1 - 1e-12))) + 1, rank)
        return vectors[:, :kept] / np.sqrt(values[:kept])


@dataclass(frozen=True)
class PWCCA(LinearMeasure):
    """CCA with each ρ weighted by how much of x its variate accounts for: α_i = Σ_j |⟨h_i, x_j⟩|.

    Directions h and weights α come from the train part, ρ from the test part.

    Parameters
    ----------
    reverse : weights from y instead of x.

    References
    ----------
    Morcos et al. 2018.
    """

    reverse: bool = False
    assumes: ClassVar[str] = "the columns of the weighting side matter by their own units"
    reference: ClassVar[str] = "Morcos et al. 2018"

    @property
    def name(self) -> str:
        return f"PWCCA by {'y' if self.reverse else 'x'}"

    @property
    def mirrored(self) -> PWCCA:
        return PWCCA(not self.reverse)

    @property
    def invariant_x(self) -> Invariance:
        return AFFINE_MAPS if self.reverse else to(Change.OFFSET, Change.SCALE, Change.PERMUTATION)

    @property
    def invariant_y(self) -> Invariance:
        return to(Change.OFFSET, Change.SCALE, Change.PERMUTATION) if self.reverse else AFFINE_MAPS

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x, width_y)

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " 1"]:
        if self.reverse:
            train, test = train.swapped(), test.swapped()
        found = directions(train)
        weights = np.abs(train.xx @ found.x).sum(0)
        return np.atleast_1d(weights @ found.correlations(test) / weights.sum())
