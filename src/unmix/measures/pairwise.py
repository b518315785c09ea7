"""Sums over all pairs of rows of two distance or kernel matrices, tile by tile: never n × n in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.measures.hsic import ratio, unbiased_hsic

TILE = 1024
Kernel = Callable[[Float64[ndarray, "a b"]], Float64[ndarray, "a b"]]


def squared_distances(x: Float64[ndarray, "a k"], other: Float64[ndarray, "b k"]) -> Float64[ndarray, "a b"]:
    """‖x_i − x_j‖², at least 0."""
    squares = (x * x).sum(1)[:, None] + (other * other).sum(1) - 2 * x @ other.T
    return np.maximum(squares, 0, out=squares)


@dataclass(frozen=True)
class Totals:
    """Of two matrices a, b without their diagonals: Σab, Σa², Σb², and of row sums Σa.b., Σa.², Σb.², Σa, Σb; n."""

    ab: float
    aa: float
    bb: float
    rows_ab: float
    rows_aa: float
    rows_bb: float
    a: float
    b: float
    n: int

    @property
    def correlation(self) -> float:
        """Pearson's, over the pairs of different rows."""
        pairs = self.n * (self.n - 1)
        spread_a, spread_b = self.aa - self.a**2 / pairs, self.bb - self.b**2 / pairs
        return ratio(self.ab - self.a * self.b / pairs, spread_a, spread_b)

    @property
    def alignment(self) -> float:
        """The debiased alignment: of kernels, CKA; of distances, the bias-corrected squared distance correlation."""
        ours = unbiased_hsic(self.n, self.aa, self.rows_aa, self.a, self.a)
        theirs = unbiased_hsic(self.n, self.bb, self.rows_bb, self.b, self.b)
        return ratio(unbiased_hsic(self.n, self.ab, self.rows_ab, self.a, self.b), ours, theirs)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Σab, Σa², Σb² for each pair of chunks, and each row's Σa, Σb over each chunk: enough to leave chunks out."""

    ab: Float64[ndarray, "g g"]
    aa: Float64[ndarray, "g g"]
    bb: Float64[ndarray, "g g"]
    a: Float64[ndarray, "n g"]
    b: Float64[ndarray, "n g"]
    chunk: Int64[ndarray, " n"]

    @classmethod
    def of(
        cls,
        x: Float64[ndarray, "n k"],
        y: Float64[ndarray, "n d"],
        chunk: Int64[ndarray, " n"],
        kernels: tuple[Kernel, Kernel],
    ) -> PairSums:
        """Tile by tile; `kernels` turn squared distances into entries. Chunks are numbered anew, in their order."""
        order = np.argsort(chunk, kind="stable")
        x, y = x[order] - x.mean(0), y[order] - y.mean(0)
        number = np.unique(chunk[order], return_inverse=True)[1]
        groups = int(number[-1]) + 1
        ab, aa, bb = (np.zeros((groups, groups)) for _ in range(3))
        rows_a, rows_b = np.zeros((len(x), groups)), np.zeros((len(x), groups))
        indicator = np.eye(groups)[number]
        for i in range(0, len(x), TILE):
            for j in range(0, len(x), TILE):
                at, to = slice(i, i + TILE), slice(j, j + TILE)
                a, b = kernels[0](squared_distances(x[at], x[to])), kernels[1](squared_distances(y[at], y[to]))
                if i == j:
                    np.fill_diagonal(a, 0)
                    np.fill_diagonal(b, 0)
                left, right = indicator[at], indicator[to]
                for total, entries in ((ab, a * b), (aa, a * a), (bb, b * b)):
                    total += left.T @ (entries @ right)
                rows_a[at] += a @ right
                rows_b[at] += b @ right
        return cls(ab, aa, bb, rows_a, rows_b, number)

    def totals(self, without: int | None = None) -> Totals:
        """Of all rows, or of all but one chunk."""
        kept = np.arange(len(self.ab)) != (-1 if without is None else without)
        rows = kept[self.chunk]
        a, b = self.a[np.ix_(rows, kept)].sum(1), self.b[np.ix_(rows, kept)].sum(1)
        pairs = np.ix_(kept, kept)
        ab, aa, bb = (float(s[pairs].sum()) for s in (self.ab, self.aa, self.bb))
        n = int(rows.sum())
        return Totals(ab, aa, bb, float(a @ b), float(a @ a), float(b @ b), float(a.sum()), float(b.sum()), n)
