"""Measures of distances between rows: representational similarity, distance correlation, kernel alignment."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.errors import require
from unmix.measures.invariance import SIMILARITIES, Invariance
from unmix.measures.measure import Assessment, RowMeasure
from unmix.measures.pairwise import Kernel, PairSums, Totals, squared_distances
from unmix.measures.sample import Sample, nulls

NULL_ROWS = 1000


@dataclass(frozen=True)
class PairwiseMeasure(RowMeasure):
    """A function of sums over pairs of rows; the null is taken on at most 1,000 rows, whose matrices are held."""

    @property
    def invariant_x(self) -> Invariance:
        return SIMILARITIES

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return "pairs of rows need more than 3 rows" if train_rows <= 3 else None

    @abstractmethod
    def kernel(self, x: Float64[ndarray, "n k"]) -> Kernel:
        """From squared distances to entries."""

    @abstractmethod
    def value(self, totals: Totals) -> float: ...

    def score(self, sample: Sample) -> float:
        return self.value(self._sums(sample).totals())

    def assess(self, sample: Sample, permutations: int) -> Assessment:
        sums = self._sums(sample)
        left_out = np.array([self.value(sums.totals(without=g)) for g in range(len(sums.ab))])
        few = sample.fewer(NULL_ROWS).exchangeable()
        a, b = (self.kernel(t)(squared_distances(t, t)) for t in (few.x - few.x.mean(0), few.y - few.y.mean(0)))
        np.fill_diagonal(a, 0)
        np.fill_diagonal(b, 0)
        rows_a, rows_b = a.sum(1), b.sum(1)
        own = dict(aa=np.sum(a * a), bb=np.sum(b * b), rows_aa=rows_a @ rows_a, rows_bb=rows_b @ rows_b)
        totals = partial(Totals, a=rows_a.sum(), b=rows_b.sum(), n=len(a), **own)

        def paired_by(order: Int64[ndarray, " m"]) -> float:
            return self.value(totals(ab=np.sum(a * b[np.ix_(order, order)]), rows_ab=rows_a @ rows_b[order]))

        now, (null, beyond) = paired_by(np.arange(len(a))), nulls(few, paired_by, permutations)
        return Assessment(self.value(sums.totals()), left_out, now, null, len(a), beyond)

    def _sums(self, sample: Sample) -> PairSums:
        return PairSums.of(sample.x, sample.y, sample.chunk, (self.kernel(sample.x), self.kernel(sample.y)))


@dataclass(frozen=True)
class RSA(PairwiseMeasure):
    """Representational similarity: Pearson's correlation of the Euclidean distances over all pairs of rows.

    References
    ----------
    Kriegeskorte et al. 2008.
    """

    assumes: ClassVar[str] = "distances in the columns' own units have a meaning"
    reference: ClassVar[str] = "Kriegeskorte et al. 2008"

    @property
    def name(self) -> str:
        return "RSA"

    def kernel(self, x: Float64[ndarray, "n k"]) -> Kernel:
        return np.sqrt

    def value(self, totals: Totals) -> float:
        return totals.correlation


@dataclass(frozen=True)
class DistanceCorrelation(PairwiseMeasure):
    """The bias-corrected squared distance correlation: 0 on average for independent rows, and then often below 0.

    In the population it is 0 only if x and y are independent, so it also sees relations that are not linear.

    References
    ----------
    Székely & Rizzo 2013.
    """

    assumes: ClassVar[str] = "distances in the columns' own units have a meaning"
    reference: ClassVar[str] = "Székely & Rizzo 2013"

    @property
    def name(self) -> str:
        return "distance correlation"

    def kernel(self, x: Float64[ndarray, "n k"]) -> Kernel:
        return np.sqrt

    def value(self, totals: Totals) -> float:
        return totals.alignment


@dataclass(frozen=True)
class KernelCKA(PairwiseMeasure):
    """Debiased CKA with Gaussian kernels exp(−‖x_i − x_j‖²/2σ²), σ a multiple of the median distance.

    Parameters
    ----------
    bandwidth : σ over the median distance of each side's rows.

    References
    ----------
    Kornblith et al. 2019.
    """

    bandwidth: float = 0.5
    assumes: ClassVar[str] = "near rows decide, how near is the bandwidth's choice"
    reference: ClassVar[str] = "Kornblith et al. 2019"

    def __post_init__(self) -> None:
        require(0 < self.bandwidth < np.inf, f"bandwidth must be above 0 and finite, not {self.bandwidth}.")

    @property
    def name(self) -> str:
        return f"RBF-CKA {self.bandwidth:g}"

    def kernel(self, x: Float64[ndarray, "n k"]) -> Kernel:
        some = x[:: max(1, len(x) // NULL_ROWS)]
        some = some - some.mean(0)
        distances = squared_distances(some, some)[np.triu_indices(len(some), 1)]
        median = np.median(distances) or distances.mean() or 1.0  # where most rows are equal, any scale will do
        return lambda squares: np.exp(-squares / (2 * self.bandwidth**2 * median))

    def value(self, totals: Totals) -> float:
        return totals.alignment
