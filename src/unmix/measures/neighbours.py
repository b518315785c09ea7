"""Mutual nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy import ndarray
from scipy.sparse import csr_array

from unmix.errors import require
from unmix.measures.invariance import SIMILARITIES, Invariance
from unmix.measures.measure import Assessment, RowMeasure
from unmix.measures.pairwise import TILE, squared_distances
from unmix.measures.sample import Sample, nulls


@dataclass(frozen=True)
class Neighbours(RowMeasure):
    """The mean share of a row's k nearest neighbours in x (Euclidean) that are among its k nearest in y.

    For unrelated representations of m rows it is about k/(m − 1), so the number of rows is part of the score:
    compare scores only between tables of equally many rows.

    References
    ----------
    Huh et al. 2024 (who take the cosine); null calibration: Gröger et al. 2026.
    """

    k: int = 10
    assumes: ClassVar[str] = "near rows in the columns' own units have a meaning; the score depends on the rows' number"
    reference: ClassVar[str] = "Huh et al. 2024"

    def __post_init__(self) -> None:
        require(isinstance(self.k, int) and self.k >= 1, f"k must be a whole number of at least 1, not {self.k}.")

    @property
    def name(self) -> str:
        return f"neighbours {self.k}"

    @property
    def invariant_x(self) -> Invariance:
        return SIMILARITIES

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return None if train_rows > 2 * self.k else f"{self.k} neighbours need more than {2 * self.k} rows"

    def score(self, sample: Sample) -> float:
        x, y = (_adjacency(_nearest(t, self.k, side)) for side, t in enumerate((sample.x, sample.y)))
        return float((x * y).sum() / (self.k * len(sample.x)))

    def assess(self, sample: Sample, permutations: int) -> Assessment:
        x, y = (_adjacency(_nearest(t, self.k, side)) for side, t in enumerate((sample.x, sample.y)))
        share = self.k * len(sample.x)
        null, beyond = nulls(sample, lambda order: (x * y[order][:, order]).sum() / share, permutations)
        score = float((x * y).sum() / share)
        return Assessment(score, self._left_out(sample), score, null, len(sample.x), beyond)

    def _left_out(self, sample: Sample) -> Float64[ndarray, " g"]:
        number = np.unique(sample.chunk, return_inverse=True)[1]
        lists = [self._with_spares(t, number, side) for side, t in enumerate((sample.x, sample.y))]
        scores = []
        for g in range(number.max() + 1):
            stays = number != g
            x, y = (_adjacency(_first(near[stays], stays, self.k), len(near)) for near in lists)
            scores.append((x * y).sum() / (self.k * stays.sum()))
        return np.array(scores)

    def _with_spares(
        self, x: Float64[ndarray, "n k"], number: Int64[ndarray, " n"], side: int
    ) -> Int64[ndarray, "n s"]:
        """So many nearest rows that k are left whichever chunk is left out."""
        most, spares = len(x) - 1, 2 * self.k + 8
        while True:
            near = _nearest(x, min(spares, most), side)
            largest = max(int((number[near] == g).sum(1).max()) for g in range(number.max() + 1))
            if near.shape[1] == most or near.shape[1] - largest >= self.k:
                return near
            spares *= 2


def _nearest(x: Float64[ndarray, "n k"], count: int, side: int) -> Int64[ndarray, "n c"]:
    """Each row's nearest other rows, the nearest first.

    Ties (equal rows, discrete columns) fall in the order of a permutation of its own for each side: in the order of
    the rows, x and y would break them alike, and unrelated tables would share neighbours.
    """
    shuffle = np.random.default_rng([side, 5]).permutation(len(x))
    x = x[shuffle] - x.mean(0)
    near = np.empty((len(x), count), np.int64)
    for start in range(0, len(x), TILE):
        squares = squared_distances(x[start : start + TILE], x)
        here = np.arange(len(squares))
        squares[here, start + here] = np.inf
        some = np.argpartition(squares, count - 1, axis=1)[:, :count]
        inner = np.argsort(np.take_along_axis(squares, some, 1), axis=1, kind="stable")
        near[shuffle[start : start + TILE]] = shuffle[np.take_along_axis(some, inner, 1)]
    return near


def _first(near: Int64[ndarray, "n s"], stays: Bool[ndarray, " m"], k: int) -> Int64[ndarray, "n k"]:
    """The first k of each list that stay."""
    left = stays[near]
    first = left & (np.cumsum(left, axis=1) <= k)
    return near[first].reshape(len(near), k)


def _adjacency(near: Int64[ndarray, "n k"], width: int | None = None) -> csr_array:
    """1 where j is among the neighbours of i."""
    n, k = near.shape
    return csr_array((np.ones(n * k), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, width or n))
