"""What a set of paired rows is to a linear measure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.moments.whitening import solve


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

    @classmethod
    def of(cls, x: Float64[ndarray, "n k"], y: Float64[ndarray, "n d"]) -> Moments:
        """The moments of rows held in memory."""
        mean_x, mean_y = x.mean(0), y.mean(0)
        x, y = x - mean_x, y - mean_y
        q = np.stack([(x * x).sum(1), (y * y).sum(1)])
        norms = (q @ q.T)[[0, 0, 1], [0, 1, 1]]
        return cls(float(len(x)), mean_x, mean_y, x.T @ x, x.T @ y, y.T @ y, norms)

    def swapped(self) -> Moments:
        """The same with x and y exchanged."""
        return Moments(self.n, self.mean_y, self.mean_x, self.yy, self.xy.T, self.xx, self.norms[::-1])

    @cached_property
    def about_zero(self) -> Moments:
        """The same with raw instead of centred second moments, and means of zero: for maps without an offset."""
        mx, my = self.mean_x[:, None], self.mean_y[:, None]
        return replace(
            self,
            mean_x=np.zeros_like(self.mean_x),
            mean_y=np.zeros_like(self.mean_y),
            xx=self.xx + self.n * mx @ mx.T,
            xy=self.xy + self.n * mx @ my.T,
            yy=self.yy + self.n * my @ my.T,
        )

    @cached_property
    def solution(self) -> Float64[ndarray, "k d"]:
        """The least-squares coefficients of y from x, about the means."""
        return solve(self.xx, self.xy)

    @property
    def correlation(self) -> Float64[ndarray, "k d"]:
        """Pearson correlation of each column of x with each column of y; 0 where a column is constant."""
        return self.xy * _inverse_root(np.diag(self.xx))[:, None] * _inverse_root(np.diag(self.yy))


def _inverse_root(squares: Float64[ndarray, " k"]) -> Float64[ndarray, " k"]:
    return np.divide(1, np.sqrt(np.maximum(squares, 0)), out=np.zeros(len(squares)), where=squares > 0)
