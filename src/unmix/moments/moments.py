"""What a set of paired rows is to a linear measure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.moments.whitening import cholesky, solve


@dataclass(frozen=True, eq=False)
class Moments:
    """Of rows x in R^k paired with y in R^d: n, the means, and Σ x̄x̄ᵀ, Σ x̄ȳᵀ, Σ ȳȳᵀ of centred rows, float64.

    Debiased CKA also needs `norms` = (Σ‖x̄‖⁴, Σ‖x̄‖²‖ȳ‖², Σ‖ȳ‖⁴).

    Examples
    --------
    >>> m = Moments.of(np.array([[0.0], [2.0]]), np.array([[1.0], [5.0]]))
    >>> m.n, m.xy.tolist()
    (2.0, [[4.0]])
    """

    n: float
    mean_x: Float64[ndarray, " k"]
    mean_y: Float64[ndarray, " d"]
    xx: Float64[ndarray, "k k"]
    xy: Float64[ndarray, "k d"]
    yy: Float64[ndarray, "d d"]
    norms: Float64[ndarray, " 3"]
    part_of: tuple[Moments, Int64[ndarray, " d"]] | None = field(default=None, repr=False)
    centred: Moments | None = field(default=None, repr=False)

    @classmethod
    def of(cls, x: Float64[ndarray, "n k"], y: Float64[ndarray, "n d"]) -> Moments:
        """The moments of rows held in memory."""
        mean_x, mean_y = x.mean(0), y.mean(0)
        x, y = x - mean_x, y - mean_y
        q = np.stack([(x * x).sum(1), (y * y).sum(1)])
        norms = (q @ q.T)[[0, 0, 1], [0, 1, 1]]
        return cls(float(len(x)), mean_x, mean_y, x.T @ x, x.T @ y, y.T @ y, norms)

    def squares_about(self, mean: Float64[ndarray, " d"]) -> Float64[ndarray, " d"]:
        """Σ (y − mean)² of each column of y."""
        return np.diag(self.yy) + self.n * (self.mean_y - mean) ** 2

    def products_about(self, mean: Float64[ndarray, " d"]) -> Float64[ndarray, "d d"]:
        """Σ (y − mean)(y − mean)ᵀ; its diagonal is `squares_about`."""
        off = self.mean_y - mean
        return self.yy + self.n * np.outer(off, off)

    def swapped(self) -> Moments:
        """The same with x and y exchanged."""
        return Moments(self.n, self.mean_y, self.mean_x, self.yy, self.xy.T, self.xx, self.norms[::-1])

    def targets(self, columns: Int64[ndarray, " c"]) -> Moments:
        """Of some columns of y: least squares that are solved for all are solved for these. The norms are unknown."""
        yy, unknown = self.yy[np.ix_(columns, columns)], np.full(3, np.nan)
        y = {"mean_y": self.mean_y[columns], "xy": self.xy[:, columns], "yy": yy}
        return replace(self, **y, norms=unknown, part_of=(self, columns))

    @cached_property
    def about_zero(self) -> Moments:
        """The same with raw instead of centred second moments, and means of zero: for maps without an offset."""
        if self.part_of is not None:
            whole, columns = self.part_of
            return whole.about_zero.targets(columns)
        mx, my = self.mean_x[:, None], self.mean_y[:, None]
        return replace(
            self,
            mean_x=np.zeros_like(self.mean_x),
            mean_y=np.zeros_like(self.mean_y),
            xx=self.xx + self.n * mx @ mx.T,
            xy=self.xy + self.n * mx @ my.T,
            yy=self.yy + self.n * my @ my.T,
            centred=self,
        )

    @cached_property
    def solution(self) -> Float64[ndarray, "k d"]:
        """The least-squares coefficients of y from x, about the means."""
        if self.part_of is not None:
            whole, columns = self.part_of
            return whole.solution[:, columns]
        m = self.centred
        if m is None or m.factor is None:
            return solve(self.xx, self.xy, self.factor)
        # Σxxᵀ about 0 is that about the mean and n m mᵀ: one factorisation serves both (Sherman & Morrison 1950).
        direction = solve(m.xx, m.mean_x[:, None], m.factor)
        missed = m.n * (m.mean_y - m.mean_x @ m.solution) / (1 + m.n * m.mean_x @ direction)
        return m.solution + direction * missed

    @cached_property
    def factor(self) -> Float64[ndarray, "k k"] | None:
        """The Cholesky factor of Σ x̄x̄ᵀ, where that is well-conditioned."""
        return cholesky(self.xx)

    @property
    def correlation(self) -> Float64[ndarray, "k d"]:
        """Pearson correlation of each column of x with each column of y; 0 where a column is constant."""
        return self.xy * _inverse_root(np.diag(self.xx))[:, None] * _inverse_root(np.diag(self.yy))


def _inverse_root(squares: Float64[ndarray, " k"]) -> Float64[ndarray, " k"]:
    return np.divide(1, np.sqrt(np.maximum(squares, 0)), out=np.zeros(len(squares)), where=squares > 0)
