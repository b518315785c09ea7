"""How well a linear boundary finds classes: balanced accuracy, with its interval and null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from unmix.audit.discriminant import balanced_accuracy, confusions, discriminant
from unmix.factors import Factor
from unmix.measures.evaluate import permuted, refusals
from unmix.measures.invariance import Change, Invariance, to
from unmix.measures.measure import Measure, wide
from unmix.measures.paired import Paired
from unmix.measures.resample import chunks_a_fold, enough_chunks, folds_to_resample
from unmix.measures.sample import Pairings
from unmix.measures.score import Chance, HeldOut, Refusal, Score, bootstrap_spread, jackknife_spread, scored
from unmix.tables import Table

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

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x, instead="or fewer columns, such as leading principal components")


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
    refused = refusals(paired, list(measures.values()))
    if refused:  # all of them: it is a matter of rows and outputs
        return {name: refused[m] for name, m in measures.items()}

    trains = [train for train, _ in paired.folds.splits()]
    fitted = [[discriminant(train, columns) for train in trains] for _, columns in factors]
    counted = confusions(table, paired, [f.codes[f.present] for f, _ in factors], fitted)
    chances = _permuted(paired, factors, counts["permutations"], advance)
    draws = paired.folds.draws(counts["bootstraps"], paired.sample.seed)
    found: dict[str, Score | Refusal] = {}
    for (factor, _), of_chunk, chance in zip(factors, counted, chances, strict=True):
        whole = of_chunk.sum(0)
        if enough_chunks(paired):
            resampled = np.array([balanced_accuracy(c) for c in np.tensordot(draws, of_chunk, 1)])
            spread = bootstrap_spread(resampled, chunks_a_fold(paired))
        else:
            there = np.flatnonzero(paired.folds.chunks.rows > 0)
            spread = jackknife_spread(np.array([balanced_accuracy(whole - of_chunk[c]) for c in there]))
        recall = np.diag(whole) / np.maximum(whole.sum(1), 1)
        held_out = HeldOut(balanced_accuracy(whole), recall, spread)
        found[factor.name] = scored(measures[factor.name], held_out, chance, paired.rows, paired.groups)
    return found


def _permuted(
    paired: Paired, factors: Sequence[tuple[Factor, Columns]], permutations: int, advance: Callable[[], None]
) -> list[Chance]:
    """The accuracies on the sampled rows, and those when rows are paired anew."""
    rows, only = paired.sample.exchangeable(), folds_to_resample(paired)
    pairings = Pairings(rows)
    codes = [rows.y[:, list(columns)].argmax(1) for _, columns in factors]

    def scores(order: Int64[ndarray, " m"]) -> list[float]:
        splits, found = pairings.folds(order).splits(only), []
        x, y = rows.sides(order)
        for (factor, columns), code in zip(factors, codes, strict=True):
            table = np.zeros((len(factor.levels), len(factor.levels)))
            for f, (train, _) in enumerate(splits):
                test = rows.fold == f
                np.add.at(table, (code[y[test]], discriminant(train, columns)(rows.x[x[test]])), 1)
            found.append(balanced_accuracy(table))
        return found

    return permuted(rows, scores, [columns for _, columns in factors], permutations, advance)
