"""Which class of maps a verdict names: the smallest that loses little in every direction of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.indeterminacy import (
    AFFINE,
    LADDER,
    GeneralisedPermutation,
    Indeterminacy,
    ScaledOrthogonal,
    ScaledPermutation,
)
from unmix.measures.direction import Direction, Directions
from unmix.moments import Folds, Split

TOLERANCE = 0.02  # what a class may lose against affine maps, as a share of the variance in any direction
COMPLETE = 0.95  # the R² from which something is recovered


class Extent(Enum):
    """How much of the truth an affine map of the embedding gives."""

    COMPLETE = "complete"  # R² is at least 0.95 in every direction
    IN_PART = "in part"  # on average it is, in some direction it is not
    THROUGHOUT = "in part throughout"  # nor on average


@dataclass(frozen=True, eq=False)
class Ladder:
    """The verdict on classes.

    With e_C = z − ẑ_C on held-out rows, Σ the covariance of the truth z about the train mean and R_C = mean e_C e_Cᵀ,
    a direction a of the truth has R²(a) = 1 − aᵀR_affine a / aᵀΣa, and a class C loses aᵀ(R_C − R_affine)a / aᵀΣa in
    it. Sums are over all folds before they are divided.

    Attributes
    ----------
    extent : whether R² is at least 0.95 in every direction; only then is a class named.
    named : the smallest classes whose loss is within the tolerance in every direction, with that loss; two at most.
    weakest : the direction with the smallest R²; None where even the mean R² is below 0.95.
    unjudged : directions in which the truth hardly varies (an eigenvalue of its correlation matrix below 0.01), as
        weights of its columns: they are left out of both.
    """

    extent: Extent
    named: Mapping[Indeterminacy, float]
    weakest: Direction | None = None
    unjudged: tuple[Float64[ndarray, " d"], ...] = ()

    @property
    def minimal(self) -> tuple[Indeterminacy, ...]:
        """The classes named."""
        return tuple(self.named)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON; `Ladder.read` reads it back."""
        weakest = self.weakest and {"r2": self.weakest.r2, "weights": self.weakest.weights.tolist()}
        return {
            "extent": self.extent.value,
            "named": {str(c): loss for c, loss in self.named.items()},
            "weakest direction": weakest,
            "not judged": [weights.tolist() for weights in self.unjudged],
        }

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Ladder:
        """From what `as_dict` wrote.

        Examples
        --------
        >>> found = Ladder(Extent.COMPLETE, {ScaledPermutation(): 0.01}, Direction(np.array([1.0]), 0.99))
        >>> Ladder.read(found.as_dict()).as_dict() == found.as_dict()
        True
        """
        by_name = {str(c): c for c in (*LADDER, ScaledPermutation(), ScaledPermutation(offset=True))}
        weakest = kept["weakest direction"]
        return cls(
            Extent(kept["extent"]),
            {by_name[name]: loss for name, loss in kept["named"].items()},
            weakest and Direction(np.array(weakest["weights"]), weakest["r2"]),
            tuple(map(np.array, kept["not judged"])),
        )


def climbed(
    folds: Folds, mean_r2: float, tolerance: float = TOLERANCE, *, told: bool = True, reverse: bool = False
) -> Ladder:
    """Find the smallest classes that lose at most `tolerance` in every direction of y.

    First among the classes with an offset; then the offset is dropped where the same class without it loses at most
    `tolerance` more. Where a generalised permutation and a scaled rotation both stand, a permutation with one common
    scale is named in place of the two if it loses little itself.

    Parameters
    ----------
    mean_r2 : the mean R² of the columns, by affine maps.
    told : whether affine maps are above chance, or chance could not be judged; if not, no class is named.
    reverse : of x from y instead of y from x.

    Examples
    --------
    >>> from unmix.moments import ChunkMoments
    >>> z = np.random.default_rng(0).normal(size=(500, 2)) @ np.array([[1.0, 2.0], [0.0, 1.0]])
    >>> turned = z @ np.array([[0.6, 0.8], [-0.8, 0.6]]) + 1
    >>> {str(c): abs(round(loss, 6)) for c, loss in climbed(Folds(ChunkMoments.of(turned, z)), 1.0).named.items()}
    {'orthogonal + offset': 0.0}
    """
    if mean_r2 < COMPLETE:
        return Ladder(Extent.THROUGHOUT, {})
    losses = Losses(folds, reverse)
    weakest, unjudged = losses.weakest, losses.directions.unjudged
    if weakest.r2 < COMPLETE:
        return Ladder(Extent.IN_PART, {}, weakest, unjudged)
    return Ladder(Extent.COMPLETE, _smallest(losses, tolerance) if told else {}, weakest, unjudged)


class Losses:
    """What affine maps miss, and what each class misses beside that, in the worst direction of the truth."""

    def __init__(self, folds: Folds, reverse: bool = False) -> None:
        self.splits, pooled = folds.splits(), folds.chunks.pooled()
        if reverse:
            self.splits, pooled = [(a.swapped(), b.swapped()) for a, b in self.splits], pooled.swapped()
        self.widths = len(pooled.mean_x), len(pooled.mean_y)
        spread = np.stack([test.products_about(train.mean_y) for train, test in self.splits])
        self.directions = Directions.of(spread, pooled.yy)
        self.affine = _residuals(AFFINE, self.splits)

    @property
    def weakest(self) -> Direction:
        """The smallest R²(a)."""
        return self.directions.weakest(self.affine)

    def of(self, c: Indeterminacy) -> float:
        """The largest loss of a class: the mean of its cross-fitted and its in-sample value.

        The former alone is too low where rows are few (with 60 columns and 500 rows a fifth of the true loss), the
        latter too high.
        """
        return float(np.mean(self.directions.largest(_residuals(c, self.splits) - self.affine)))

    def within(self, c: Indeterminacy, tolerance: float) -> bool:
        """Whether a class with an offset loses at most the tolerance, and one without it at most as much more."""
        shifted = self.of(replace(c, offset=True))
        return shifted <= tolerance and (c.offset or self.of(c) <= shifted + tolerance)

    def of_classes(self) -> Iterator[tuple[Indeterminacy, float]]:
        """The loss of each class with an offset that applies."""
        for c in LADDER:
            if c.offset and c.applies(*self.widths):
                yield c, self.of(c)


def _smallest(losses: Losses, tolerance: float) -> dict[Indeterminacy, float]:
    """The smallest classes within the tolerance, with their losses."""
    with_offset = {c: loss for c, loss in losses.of_classes() if loss <= tolerance}
    smallest = [c for c in with_offset if not any(other < c for other in with_offset)]
    if {type(c) for c in smallest} == {GeneralisedPermutation, ScaledOrthogonal}:
        one_scale: Indeterminacy = ScaledPermutation(offset=True)
        if (loss := losses.of(one_scale)) <= tolerance:
            smallest, with_offset[one_scale] = [one_scale], loss
    named: dict[Indeterminacy, float] = {}
    for c in smallest:
        bare = replace(c, offset=False)
        loss = losses.of(bare)
        named |= {bare: loss} if loss <= with_offset[c] + tolerance else {c: with_offset[c]}
    return named


def _residuals(c: Indeterminacy, splits: Sequence[Split]) -> Float64[ndarray, "folds d d"]:
    return np.stack([c.fit(train).residuals(test) for train, test in splits])
