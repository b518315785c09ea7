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
from unmix.measures.evaluate import chances, refusals
from unmix.measures.invariance import Change, Invariance, to
from unmix.measures.measure import ExplainedShare, LinearMeasure, wide
from unmix.measures.paired import Paired
from unmix.measures.recovery import SCORES, ladder_of
from unmix.measures.resample import fold_mean, resample
from unmix.measures.score import TELLING, HeldOut, Refusal, Score, scored
from unmix.moments import Moments, Split
from unmix.tables import Table
from unmix.threads import one_blas_thread


@dataclass(frozen=True)
class FactorR2(ExplainedShare):
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
    def targets(self) -> Columns:
        return self.columns

    @property
    def invariant_x(self) -> Invariance:
        return to(Change.INVERTIBLE, Change.OFFSET)

    @property
    def invariant_y(self) -> Invariance:
        return to(Change.SCALE, Change.ROTATION, Change.OFFSET)

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x, instead="or fewer columns, such as leading principal components")

    def squares(self, train: Moments, test: Moments) -> tuple[Float64[ndarray, " 1"], Float64[ndarray, " 1"]]:
        chosen = list(self.columns)
        wrong, total = AFFINE.fit(train).errors(test, chosen), test.squares_about(train.mean_y)[chosen]
        return np.atleast_1d(wrong.sum()), np.atleast_1d(total.sum())


@dataclass(frozen=True)
class Among(LinearMeasure):
    """Another measure, of some columns of y: in one loop with those that are of others."""

    columns: Columns
    measure: LinearMeasure

    @property
    def name(self) -> str:
        return self.measure.name

    @property
    def jumps(self) -> bool:
        return self.measure.jumps

    @property
    def targets(self) -> Columns:
        return self.columns

    @property
    def invariant_x(self) -> Invariance:
        return self.measure.invariant_x

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " p"]:
        return self.over([(train, test)])

    def over(self, splits: Sequence[Split]) -> Float64[ndarray, " p"]:
        chosen = np.array(self.columns)
        return self.measure.over([(train.targets(chosen), test.targets(chosen)) for train, test in splits])


@dataclass(frozen=True, eq=False)
class Together:
    """What the recovery of several factors at once is made of."""

    factors: tuple[str, ...]
    paired: Paired
    affine: Score
    pearson: Score
    ladder: tuple[HeldOut, ...]


@dataclass(frozen=True, eq=False)
class Scores:
    """A score a factor and its columns of y, by name; and of all numbers that are there, at once."""

    of_factor: dict[str, Score | Refusal]
    columns: dict[str, Columns]
    together: Together | None


def linear_scores(
    table: Table,
    paired: Paired,
    factors: Sequence[tuple[Factor, Columns]],
    counts: dict[str, Any],
    alone: bool,
    advance: Callable[[], None],
) -> Scores:
    """Every factor with its interval and null; and all numbers at once, if there are no other factors."""
    found: dict[str, Score | Refusal] = {}
    numbers = {f.name: columns for f, columns in factors if not f.categorical}
    together = _regressed(paired, numbers, counts, alone, advance, found) if numbers else None
    classes = [(f, columns) for f, columns in factors if f.categorical]
    if classes:
        found |= classified(table, paired, classes, counts, advance)
    return Scores(found, {f.name: columns for f, columns in factors}, together)


@one_blas_thread()
def _regressed(
    paired: Paired,
    numbers: dict[str, Columns],
    counts: dict[str, Any],
    alone: bool,
    advance: Callable[[], None],
    found: dict[str, Score | Refusal],
) -> Together | None:
    """The R² of each number into `found`, and the ladder of those that are there; they share their resamples.

    Chance comes first: it says which are there.
    """
    measures = [FactorR2(name, columns) for name, columns in numbers.items()]
    refused = refusals(paired, measures)
    found |= {m.factor: refused[m] for m in measures if m in refused}
    asked = [m for m in measures if m not in refused]
    if not asked:
        return None
    every = _columns(asked)
    at_once = _among(every, SCORES) if alone else []
    of_all = chances(paired, [*asked, *at_once], counts["permutations"], advance)
    of_one, of_every = of_all[: len(asked)], of_all[len(asked) :]
    values = [fold_mean(m, paired.folds, paired.folds.splits()) for m in asked]
    there = [
        m for m, c, v in zip(asked, of_one, values, strict=True) if (c.exceeded_by(v) or c.not_judged) and v >= TELLING
    ]
    columns = _columns(there) if alone else ()
    beside = paired.targets(np.array(columns, int))
    whole = [*SCORES, *ladder_of(beside)] if columns and not refusals(beside, SCORES) else []
    held_out = resample(paired, [*asked, *_among(columns, whole)], counts["bootstraps"], advance)
    found |= {
        m.factor: scored(m, h, c, paired.rows, paired.groups) for m, h, c in zip(asked, held_out, of_one, strict=False)
    }
    if not whole:
        return None
    affine, pearson = of_every if columns == every else chances(beside, SCORES, counts["permutations"])
    r2, mcc, *ladder = held_out[len(asked) :]
    told = paired.rows, paired.groups
    both = scored(SCORES[0], r2, affine, *told), scored(SCORES[1], mcc, pearson, *told)
    return Together(tuple(m.factor for m in there), beside, *both, tuple(ladder))


def _columns(measures: Sequence[FactorR2]) -> Columns:
    return tuple(c for m in measures for c in m.columns)


def _among(columns: Columns, measures: Sequence[LinearMeasure]) -> list[Among]:
    return [Among(columns, m) for m in measures]
