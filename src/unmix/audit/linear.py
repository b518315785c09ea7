"""How well a linear map finds each factor; numbers by R²."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.audit.classes import Columns, classified
from unmix.factors import Factor
from unmix.indeterminacy import AFFINE
from unmix.measures.evaluate import HeldOut, evaluate_beside
from unmix.measures.invariance import Change, Invariance, to
from unmix.measures.measure import LinearMeasure, wide
from unmix.measures.paired import Paired
from unmix.measures.recovery import SCORES, ladder_of
from unmix.measures.score import Refusal, Score
from unmix.moments import Moments
from unmix.tables import Table


@dataclass(frozen=True)
class FactorR2(LinearMeasure):
    """Held-out R² of one factor from all outputs: 1 − ΣSSE/ΣSST over its columns (cosine and sine of an angle).

    With both columns in one sum, it does not matter where an angle has its origin.

    Parameters
    ----------
    factor : its name.
    columns : which columns of y are its targets.
    """

    factor: str
    columns: Columns
    assumes: ClassVar[str] = "the relation is linear; rows of different folds are independent"
    reference: ClassVar[str] = "Zimmermann et al. 2021"

    @property
    def name(self) -> str:
        return f"R² of {self.factor}"

    @property
    def mirrored(self) -> None:
        return None

    @property
    def invariant_x(self) -> Invariance:
        return to(Change.INVERTIBLE, Change.OFFSET)

    @property
    def invariant_y(self) -> Invariance:
        return to(Change.SCALE, Change.ROTATION, Change.OFFSET)

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x)

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " 1"]:
        chosen = list(self.columns)
        total = np.diag(test.yy)[chosen].sum()
        wrong = AFFINE.fit(train).errors(test, chosen).sum()
        return np.array([1 - wrong / total if total > 0 else -np.inf])


@dataclass(frozen=True, eq=False)
class Scores:
    """A score a factor and its columns of y, by name, and what the ladder of all that are numbers is made of."""

    of_factor: dict[str, Score | Refusal]
    columns: dict[str, Columns]
    numbers: Paired | None
    affine: Score | Refusal | None = None
    pearson: Score | Refusal | None = None
    ladder: tuple[HeldOut, ...] = ()


def linear_scores(
    table: Table,
    paired: Paired,
    factors: Sequence[tuple[Factor, Columns]],
    counts: dict[str, Any],
    advance: Callable[[], None],
) -> Scores:
    """Every factor with its interval and null; numbers share their resamples with the ladder."""
    placed = {f.name: columns for f, columns in factors}
    found = Scores({}, placed, None)
    numbers = [(f, columns) for f, columns in factors if not f.categorical]
    if numbers:
        every = [c for _, columns in numbers for c in columns]
        some = paired if len(every) == len(paired.kept_y) else paired.targets(np.array(every))
        place = {c: i for i, c in enumerate(every)}
        asked = [FactorR2(f.name, tuple(place[c] for c in columns)) for f, columns in numbers]
        scores, ladder = evaluate_beside(some, [*asked, *SCORES], ladder_of(some), **counts, advance=advance)
        named = {f.name: s for (f, _), s in zip(numbers, scores, strict=False)}
        affine, pearson = scores[len(asked) :]
        found = Scores(named, placed, some, affine, pearson, tuple(ladder))
    classes = [(f, columns) for f, columns in factors if f.categorical]
    if classes:
        found.of_factor.update(classified(table, paired, classes, counts, advance))
    return found
