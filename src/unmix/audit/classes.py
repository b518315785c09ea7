"""How well a linear boundary finds classes: balanced accuracy, with its interval and null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.audit.discriminant import balanced_accuracy, confusions, discriminant
from unmix.factors import Factor
from unmix.measures.evaluate import ENOUGH_CHUNKS, WIDE
from unmix.measures.invariance import Change, Invariance, to
from unmix.measures.measure import Measure, wide
from unmix.measures.paired import Paired
from unmix.measures.sample import Pairings, Sample
from unmix.measures.score import Refusal, Score, bootstrap_spread, jackknife_spread, scored
from unmix.tables import Table
from unmix.threads import one_blas_thread

Columns = tuple[int, ...]


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


def classified(
    table: Table,
    paired: Paired,
    factors: Sequence[tuple[Factor, Columns]],
    counts: dict[str, Any],
    advance: Callable[[], None],
) -> dict[str, Score | Refusal]:
    """A balanced accuracy a factor, by name.

    Its interval resamples chunks of held-out rows, each named by the discriminant that has not seen it.
    """
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
    counted = confusions(table, paired, [f.codes[f.present] for f, _ in factors], fitted)
    observed, null = _permuted(paired, rows, factors, counts["permutations"], advance)
    weights = _chunk_weights(paired, counts["bootstraps"])
    found: dict[str, Score | Refusal] = {}
    there = np.flatnonzero(paired.folds.chunks.rows > 0)
    per_fold = len(there) / paired.folds.count
    for j, (factor, _) in enumerate(factors):
        whole = counted[j].sum(0)
        if per_fold >= ENOUGH_CHUNKS:
            tables = np.tensordot(weights, counted[j], 1)
            spread = bootstrap_spread(np.array([balanced_accuracy(t) for t in tables]), per_fold)
        else:
            spread = jackknife_spread(np.array([balanced_accuracy(whole - counted[j][c]) for c in there]))
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
