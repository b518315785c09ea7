"""How well a linear map finds each factor: R² of what is a number, balanced accuracy of what is a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.audit.discriminant import balanced_accuracy, confusions, discriminant
from unmix.factors import Factor
from unmix.indeterminacy import AFFINE
from unmix.measures.evaluate import WIDE, HeldOut, evaluate_beside
from unmix.measures.invariance import Change, Invariance, to
from unmix.measures.measure import LinearMeasure, Measure, wide
from unmix.measures.paired import Paired
from unmix.measures.recovery import SCORES, ladder_of
from unmix.measures.sample import Pairings, Sample
from unmix.measures.score import Refusal, Score, bootstrap_spread, scored
from unmix.moments import Moments
from unmix.tables import Table
from unmix.threads import one_blas_thread

Columns = tuple[int, ...]


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
        wrong = _affine_errors(train, test)[chosen].sum()
        return np.array([1 - wrong / total if total > 0 else -np.inf])


@lru_cache(maxsize=8)  # every factor asks the same folds
def _affine_errors(train: Moments, test: Moments) -> Float64[ndarray, " d"]:
    return AFFINE.fit(train).errors(test)


@dataclass(frozen=True)
class BalancedAccuracy(Measure):
    """The mean over classes of the share of their held-out rows that linear discriminant analysis names rightly."""

    factor: str
    assumes: ClassVar[str] = "the spread within every class is alike; rows of different folds are independent"
    reference: ClassVar[str] = "Fisher 1936; Brodersen et al. 2010"

    @property
    def name(self) -> str:
        return f"balanced accuracy of {self.factor}"

    @property
    def invariant_x(self) -> Invariance:
        return to(Change.INVERTIBLE, Change.OFFSET)


@dataclass(frozen=True, eq=False)
class Scores:
    """A score a factor, by name, and what the ladder of the factors that are numbers is made of."""

    of_factor: dict[str, Score | Refusal]
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
    found = Scores({}, None)
    numbers = [(f, columns) for f, columns in factors if not f.categorical]
    if numbers:
        every = [c for _, columns in numbers for c in columns]
        some = paired if len(every) == len(paired.kept_y) else paired.targets(np.array(every))
        place = {c: i for i, c in enumerate(every)}
        asked = [FactorR2(f.name, tuple(place[c] for c in columns)) for f, columns in numbers]
        scores, ladder = evaluate_beside(some, [*asked, *SCORES], ladder_of(some), **counts, advance=advance)
        named = {f.name: s for (f, _), s in zip(numbers, scores, strict=False)}
        affine, pearson = scores[len(asked) :]
        found = Scores(named, some, affine, pearson, tuple(ladder))
    classes = [(f, columns) for f, columns in factors if f.categorical]
    if classes:
        found.of_factor.update(_classified(table, paired, classes, counts, advance))
    return found


def _classified(
    table: Table,
    paired: Paired,
    factors: Sequence[tuple[Factor, Columns]],
    counts: dict[str, Any],
    advance: Callable[[], None],
) -> dict[str, Score | Refusal]:
    measures = {f.name: BalancedAccuracy(f.name) for f, _ in factors}
    rows = paired.sample.exchangeable()
    a_fold = np.bincount(rows.fold, minlength=rows.folds)
    refused = wide(min(paired.train_rows, len(rows.x) - int(a_fold.max())), len(paired.kept_x))
    if a_fold.min() < 2:
        refused = "groups are too few or too unlike in size for a null: take fewer folds, or split large groups"
    if refused is not None:
        return {name: Refusal(m, refused) for name, m in measures.items()}

    trains = [train for train, _ in paired.folds.splits()]
    fitted = [[discriminant(train, columns) for train in trains] for _, columns in factors]
    counted = confusions(table, paired, [f.codes for f, _ in factors], fitted)
    observed, null = _permuted(paired, rows, factors, counts["permutations"], advance)
    weights = _chunk_weights(paired, counts["bootstraps"])
    found: dict[str, Score | Refusal] = {}
    per_fold = (paired.folds.chunks.rows > 0).sum() / paired.folds.count
    for j, (factor, _) in enumerate(factors):
        tables = np.tensordot(weights, counted[j], 1)
        spread = bootstrap_spread(np.array([balanced_accuracy(t) for t in tables]), per_fold)
        whole = counted[j].sum(0)
        recall = np.diag(whole) / np.maximum(whole.sum(1), 1)
        taken = paired.rows, len(rows.x)
        value = balanced_accuracy(whole)
        found[factor.name] = scored(measures[factor.name], value, spread, observed[j], null[:, j], taken, recall)
    return found


@one_blas_thread()
def _permuted(
    paired: Paired,
    rows: Sample,
    factors: Sequence[tuple[Factor, Columns]],
    permutations: int,
    advance: Callable[[], None],
) -> tuple[list[float], Float64[ndarray, "b f"]]:
    """The accuracies on the sampled rows, and those when rows are paired anew."""
    only = 1 if len(paired.kept_x) > WIDE else None
    pairings = Pairings(rows)
    codes = [rows.y[:, list(columns)].argmax(1) for _, columns in factors]

    def scored_on(order: Int64[ndarray, " m"]) -> list[float]:
        splits, scores = pairings.folds(order).splits(only), []
        for (factor, columns), code in zip(factors, codes, strict=True):
            table = np.zeros((len(factor.levels), len(factor.levels)))
            for f, (train, _) in enumerate(splits):
                test = rows.fold == f
                np.add.at(table, (code[order][test], discriminant(train, columns)(rows.x[test])), 1)
            scores.append(balanced_accuracy(table))
        return scores

    observed = scored_on(np.arange(len(rows.x)))
    null = np.empty((permutations, len(factors)))
    for i, order in enumerate(rows.orders(permutations)):
        null[i] = scored_on(order)
        advance()
    return observed, null


def _chunk_weights(paired: Paired, times: int) -> Float64[ndarray, "b chunks"]:
    """How often each chunk is drawn in each resample, within its fold."""
    rng = np.random.default_rng([paired.sample.seed, 2])
    weights = np.zeros((times, len(paired.folds.chunks.sums)))
    for fold in range(paired.folds.count):
        chunks = np.flatnonzero((paired.folds.of_chunk == fold) & (paired.folds.chunks.rows > 0))
        weights[:, chunks] = rng.multinomial(len(chunks), np.full(len(chunks), 1 / len(chunks)), size=times)
    return weights
