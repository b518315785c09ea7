"""Counts, means and co-moments of paired rows: all that the linear scores need."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from numpy import ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """Of rows x in R^k paired with y in R^d: n, the means, and Σ x̄x̄ᵀ, Σ x̄ȳᵀ, Σ ȳȳᵀ of centred rows, float64.

    Examples
    --------
    >>> m = Moments.of(np.array([[0.0], [2.0]]), np.array([[1.0], [5.0]]))
    >>> m.n, m.xy.tolist()
    (2, [[4.0]])
    """

    n: int
    mean_x: Float64[ndarray, " k"]
    mean_y: Float64[ndarray, " d"]
    xx: Float64[ndarray, "k k"]
    xy: Float64[ndarray, "k d"]
    yy: Float64[ndarray, "d d"]

    @classmethod
    def of(cls, x: Float64[ndarray, "n k"], y: Float64[ndarray, "n d"]) -> Moments:
        mean_x, mean_y = x.mean(0), y.mean(0)
        x, y = x - mean_x, y - mean_y
        return cls(len(x), mean_x, mean_y, x.T @ x, x.T @ y, y.T @ y)

    def about_zero(self) -> Moments:
        """The same with raw instead of centred sums, and means of zero: for maps without an offset."""
        mx, my = self.mean_x[:, None], self.mean_y[:, None]
        return replace(
            self,
            mean_x=np.zeros_like(self.mean_x),
            mean_y=np.zeros_like(self.mean_y),
            xx=self.xx + self.n * mx @ mx.T,
            xy=self.xy + self.n * mx @ my.T,
            yy=self.yy + self.n * my @ my.T,
        )

    @property
    def correlation(self) -> Float64[ndarray, "k d"]:
        """Pearson correlation of each column of x with each column of y."""
        return self.xy / np.sqrt(np.diag(self.xx))[:, None] / np.sqrt(np.diag(self.yy))
