"""What a class of maps can do: be fitted on one part, applied to the other, and compared by inclusion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.moments import Moments


@dataclass(frozen=True, eq=False)
class FittedMap:
    """y ≈ A x + b.

    Examples
    --------
    >>> FittedMap(np.array([[2.0]]), np.array([1.0]))(np.array([[3.0]])).tolist()
    [[7.0]]
    """

    matrix: Float64[ndarray, "d k"]
    offset: Float64[ndarray, " d"]

    def __call__(self, x: Float64[ndarray, "n k"]) -> Float64[ndarray, "n d"]:
        return x @ self.matrix.T + self.offset

    def r2(self, moments: Moments) -> Float64[ndarray, " d"]:
        """1 − SSE/SST a dimension on the rows of `moments`, SST about their own mean; −∞ where y is constant."""
        total = np.diag(moments.yy)
        return 1 - np.divide(self.errors(moments), total, where=total > 0, out=np.full(len(total), np.inf))

    def errors(self, moments: Moments, columns: Sequence[int] | slice = slice(None)) -> Float64[ndarray, " c"]:
        """SSE of each dimension, or of some, on the rows of `moments`."""
        a, m = self.matrix[columns], moments
        cross = (a * m.xy.T[columns]).sum(1)
        spread = (a @ m.xx * a).sum(1)
        bias = m.mean_y[columns] - a @ m.mean_x - self.offset[columns]
        return np.diag(m.yy)[columns] - 2 * cross + spread + m.n * bias**2

    def residuals(self, moments: Moments) -> Float64[ndarray, "d d"]:
        """Σ e eᵀ of e = y − A x − b on the rows of `moments`; its diagonal is `errors`."""
        a, m = self.matrix, moments
        cross = a @ m.xy
        bias = m.mean_y - a @ m.mean_x - self.offset
        return m.yy - cross - cross.T + a @ m.xx @ a.T + m.n * np.outer(bias, bias)


@dataclass(frozen=True)
class Indeterminacy(ABC):
    """A class of maps y = A x + b; without `offset`, b = 0.

    The classes are partially ordered by inclusion: `a <= b` when every map of a is a map of b.

    Examples
    --------
    >>> from unmix.indeterminacy import Identity, Orthogonal, GeneralisedPermutation
    >>> Identity() <= Orthogonal(offset=True), Orthogonal() <= GeneralisedPermutation()
    (True, False)
    """

    offset: bool = False
    name: ClassVar[str]
    contained_in: ClassVar[tuple[type[Indeterminacy], ...]] = ()
    needs_equal_widths: ClassVar[bool] = False

    @abstractmethod
    def _matrix(self, m: Moments) -> Float64[ndarray, "d k"]:
        """The least-squares A, given moments that are already centred as the class allows."""

    def fit(self, moments: Moments) -> FittedMap:
        """The least-squares map of this class on the rows of `moments`."""
        m = moments if self.offset else moments.about_zero
        a = self._matrix(m)
        return FittedMap(a, m.mean_y - a @ m.mean_x)

    def applies(self, width: int, targets: int) -> bool:
        """Whether the class has maps from R^width to R^targets."""
        return width == targets or not self.needs_equal_widths

    def __le__(self, other: Indeterminacy) -> bool:
        if self.offset and not other.offset:
            return False
        return type(self) is type(other) or any(larger(self.offset) <= other for larger in self.contained_in)

    def __lt__(self, other: Indeterminacy) -> bool:
        return self <= other and self != other

    def __str__(self) -> str:
        return f"{self.name} + offset" if self.offset else self.name
