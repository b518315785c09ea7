"""The rows that probes are fitted and scored on, and the orders in which held-out rows are paired anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.audit.target import Predictor, Rows, Target
from unmix.measures.paired import Paired
from unmix.measures.sample import Sample
from unmix.moments import Moments
from unmix.tables import Table

MOST_ROWS, FEW = 50_000, 1_000
Orders = list[tuple[Rows, Int64[ndarray, "_ _"]]]


@dataclass(frozen=True, eq=False)
class ProbeRows:
    """The rows that probes are fitted and scored on, and how often these are paired anew.

    One split of at most 50,000 rows is enough where many rows are independent: with 200 held out, an R² has a standard
    error of .05 or less. Of fewer than 1,000 rows, or groups, every fold is held out in turn, and the linear score is
    then the one that the factor is judged by; fits see no more rows together than in the other case. In time one fold
    is held out: shifts inside a short one could not say what chance gives.

    Parameters
    ----------
    x, y : (m, k) outputs, and (m, d) targets of all factors.
    sample : the same rows, with their numbers for values.
    splits : train and held-out rows.
    """

    x: Float64[ndarray, "m k"]
    y: Float64[ndarray, "m d"]
    sample: Sample
    splits: tuple[tuple[Rows, Rows], ...]
    grouped: bool
    permutations: int

    @classmethod
    def of(cls, table: Table, targets: Float64[ndarray, "n t"], paired: Paired, permutations: int) -> ProbeRows:
        units = int(paired.group.max()) + 1
        in_turn = units < FEW and paired.gap is None
        held_out = range(paired.folds.count if in_turn else 1)
        numbered = paired.index.fewer(MOST_ROWS // len(held_out))
        index = numbered.x[:, 0].astype(np.int64)
        number = np.arange(len(index), dtype=np.float64)[:, None]
        sample = replace(numbered, x=number, y=number)
        fold = sample.fold  # −1 between folds in time
        splits = tuple((np.flatnonzero((fold != f) & (fold >= 0)), np.flatnonzero(fold == f)) for f in held_out)
        x = np.asarray(table.values[index], np.float64)[:, paired.kept_x]
        grouped = units < paired.rows or paired.gap is not None
        return cls(x, targets[index][:, paired.kept_y], sample, splits, grouped, permutations)

    @cached_property
    def moments(self) -> list[Moments]:
        """Of each train part; of all factors, since those of the outputs are most of the work."""
        return [Moments.of(self.x[train], self.y[train]) for train, _ in self.splits]

    @cached_property
    def held(self) -> Rows:
        """All rows that are held out in some split."""
        return np.sort(np.concatenate([held for _, held in self.splits]))

    @cached_property
    def orders(self) -> Orders:
        """For each split the held-out rows that can be exchanged, and the same rows in other orders, groups whole.

        As many that the smallest p of K splits, times K, is that of one.
        """
        return self._orders(rotated=True)

    @cached_property
    def orders_in_place(self) -> Orders:
        """Likewise, but groups are moved only, so that every row keeps its place in the group."""
        return self._orders(rotated=False)

    def _orders(self, rotated: bool) -> Orders:
        times = len(self.splits) * (self.permutations + 1) - 1
        found = []
        for _, held in self.splits:
            rows = self.sample.rows(held).exchangeable()
            number = rows.x[:, 0].astype(np.int64)
            found.append((number, np.stack([number[order] for order in rows.orders(times, rotated)])))
        return found

    def shares_place(self, target: Target, guess: Any) -> bool:
        """Whether the predictions and the truth of the held-out rows both depend on the place in the group."""
        rows = self.sample.rows(self.held).exchangeable()
        number = rows.x[:, 0].astype(np.int64)
        return replace(rows, x=target.columns(guess[number]), y=target.columns(target.truth[number])).shares_place()

    def predictions(self, models: Sequence[Predictor]) -> Any:
        """Of every held-out row, by the model that has not seen it; 0 elsewhere."""
        parts = [model(self.x[held]) for model, (_, held) in zip(models, self.splits, strict=True)]
        found = np.zeros((len(self.x), *parts[0].shape[1:]), parts[0].dtype)
        for part, (_, held) in zip(parts, self.splits, strict=True):
            found[held] = part
        return found

    def unjudged(self, target: Target) -> str:
        """Why held-out rows cannot say what chance gives for a target; empty where they can."""
        truth = target.truth.reshape(len(self.x), -1).astype(np.float64)
        splits = [replace(self.sample.rows(rows), x=self.x[rows], y=truth[rows]) for rows, _ in self.orders]
        return next((why for split in splits if (why := split.unjudged())), "")
