"""Held-out R² of one representation from the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.errors import require
from unmix.indeterminacy import (
    FittedMap,
    GeneralisedPermutation,
    Identity,
    Indeterminacy,
    Linear,
    Orthogonal,
    ScaledOrthogonal,
    ScaledPermutation,
    SignedPermutation,
)
from unmix.measures.invariance import COLUMNWISE, Change, Invariance, to
from unmix.measures.measure import ExplainedShare, wide
from unmix.moments import Moments

_P, _S, _C, _R, _L = (
    Change.PERMUTATION, Change.SCALE, Change.COLUMN_SCALES, Change.ROTATION, Change.INVERTIBLE,
)  # fmt: skip
KEPT: dict[type[Indeterminacy], tuple[tuple[Change, ...], tuple[Change, ...]]] = {
    Identity: ((), ()),
    SignedPermutation: ((_P,), (_P,)),
    ScaledPermutation: ((_P, _S), (_P, _S)),
    GeneralisedPermutation: ((_C, _P), (_S, _P)),  # scales of y weigh its columns in the matching
    Orthogonal: ((_R,), (_P,)),  # the mean over columns of y knows its axes
    ScaledOrthogonal: ((_R, _S), (_P, _S)),
    Linear: ((_L,), (_C, _P)),
}
"""The changes of x and of y that leave the R² up to a class as it is; with an offset, that too."""


@dataclass(frozen=True)
class UpTo(ExplainedShare):
    """Held-out R² of y from x by the least-squares map of a class: 1 − ΣSSE/ΣSST a dimension, and their mean.

    Both sums are over the folds, SST is about the train mean; nothing is clipped, so a useless map scores below 0.

    Examples
    --------
    >>> from unmix.indeterminacy import Identity
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> m = Moments.of(x, x + 5)
    >>> round(UpTo(Identity(offset=True)).score(m, m), 12), UpTo(Identity()).score(m, m) < 0
    (1.0, True)
    """

    up_to: Indeterminacy
    assumes: ClassVar[str] = "every column of the target matters alike"
    reference: ClassVar[str] = "Zimmermann et al. 2021"

    @property
    def name(self) -> str:
        return f"R² up to {self.up_to}"

    @property
    def mirrored(self) -> None:
        return None

    @property
    def invariant_x(self) -> Invariance:
        return self._kept(0)

    @property
    def invariant_y(self) -> Invariance:
        return self._kept(1)

    @property
    def jumps(self) -> bool:
        return self.up_to <= GeneralisedPermutation(offset=True) and not isinstance(self.up_to, Identity)

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x)

    def squares(self, train: Moments, test: Moments) -> tuple[Float64[ndarray, " d"], Float64[ndarray, " d"]]:
        return self.up_to.fit(train).errors(test), test.squares_about(train.mean_y)

    def _kept(self, side: int) -> Invariance:
        return to(*KEPT[type(self.up_to)][side], *([Change.OFFSET] if self.up_to.offset else []))


@dataclass(frozen=True)
class R2(ExplainedShare):
    """R² = 1 − ΣSSE/ΣSST of the least-squares map, a dimension, on held-out rows; the mean over dimensions.

    Both sums are over the folds, SST is about the train mean; nothing is clipped, so a useless map scores below 0.

    Parameters
    ----------
    reverse : predict x from y instead of y from x.
    offset : whether the map may have one (affine) or not (strictly linear).
    ridge : the penalty of ridge regression, as scikit-learn's `alpha`; 0 is least squares.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> m = Moments.of(x, x @ np.array([[1.0, 2.0], [0.0, 3.0]]) + 5)
    >>> round(R2().score(m, m), 12), R2(offset=False).score(m, m) < 0.9
    (1.0, True)
    """

    reverse: bool = False
    offset: bool = True
    ridge: float = 0.0
    assumes: ClassVar[str] = "the relation is linear; every column of the target matters alike"
    reference: ClassVar[str] = "Roeder et al. 2021; Zimmermann et al. 2021, Table 1"

    def __post_init__(self) -> None:
        require(0 <= self.ridge < np.inf, f"ridge must be at least 0 and finite, not {self.ridge}.")

    @property
    def name(self) -> str:
        kind = "" if self.offset else ", no offset"
        kind += f", ridge {self.ridge:.12g}" if self.ridge else ""
        return f"R² {'y → x' if self.reverse else 'x → y'}{kind}"

    @property
    def mirrored(self) -> R2:
        return replace(self, reverse=not self.reverse)

    @property
    def invariant_x(self) -> Invariance:
        return self._of_target if self.reverse else self._of_predictor

    @property
    def invariant_y(self) -> Invariance:
        return self._of_predictor if self.reverse else self._of_target

    @property
    def _of_predictor(self) -> Invariance:
        maps = Change.ROTATION if self.ridge else Change.INVERTIBLE
        return to(maps, Change.OFFSET) if self.offset else to(maps)

    @property
    def _of_target(self) -> Invariance:
        return COLUMNWISE if self.offset else to(Change.COLUMN_SCALES, Change.PERMUTATION)

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return None if self.ridge else wide(train_rows, width_y if self.reverse else width_x)

    def squares(self, train: Moments, test: Moments) -> tuple[Float64[ndarray, " d"], Float64[ndarray, " d"]]:
        if self.reverse:
            train, test = train.swapped(), test.swapped()
        return self._fit(train).errors(test), test.squares_about(train.mean_y)

    def _fit(self, train: Moments) -> FittedMap:
        if not self.ridge:
            return Linear(self.offset).fit(train)
        m = train if self.offset else train.about_zero
        a = np.linalg.solve(m.xx + self.ridge * np.eye(len(m.xx)), m.xy).T
        return FittedMap(a, m.mean_y - a @ m.mean_x)
