"""How recovery grows with the rows that the map is fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unmix.audit.classes import Columns
from unmix.audit.discriminant import balanced_accuracy, discriminant
from unmix.audit.linear import FactorR2
from unmix.factors import Factor
from unmix.measures.paired import Paired
from unmix.threads import one_blas_thread


class Point(NamedTuple):
    """The held-out score of a map fitted on so many rows, the mean over folds with its standard error."""

    rows: int
    score: float
    error: float


@one_blas_thread()
def learning_curves(paired: Paired, factors: Sequence[tuple[Factor, Columns]]) -> list[tuple[Point, ...]]:
    """For each factor, points from a sixty-fourth of the rows to a whole train part, each the mean over folds.

    Train parts grow by whole chunks, so that nothing is read again. Sizes with hardly more rows than outputs are left
    out. Classes are scored on the sampled rows.
    """
    chunks, sample = paired.folds.chunks, paired.sample
    of_chunk = paired.folds.of_chunk
    order = np.random.default_rng([sample.seed, 6]).permutation(len(of_chunk))
    orders = [
        [c for c in order.tolist() if of_chunk[c] != fold and chunks.rows[c] > 0] for fold in range(paired.folds.count)
    ]
    most = min(map(len, orders))
    sizes = [2**i for i in range(most.bit_length()) if 2**i < 0.75 * most] + [most]
    tests = [test for _, test in paired.folds.splits()]
    totals, done = np.zeros((len(orders), *chunks.sums.shape[1:])), 0
    found: list[list[Point]] = [[] for _ in factors]
    for size in sizes:
        for total, some in zip(totals, orders, strict=True):
            total += chunks.sums[some[done:size]].sum(0)
        done = size
        trains = [chunks.centred(total) for total in totals]
        if min(t.n for t in trains) <= 1.5 * len(paired.kept_x) + 1:
            continue
        for points, (factor, columns) in zip(found, factors, strict=True):
            scores = []
            for fold, (train, test) in enumerate(zip(trains, tests, strict=True)):
                if factor.categorical:
                    x, y = (side[sample.fold == fold] for side in (sample.x, sample.y))
                    table = np.zeros((len(columns), len(columns)))
                    np.add.at(table, (y[:, list(columns)].argmax(1), discriminant(train, columns)(x)), 1)
                    scores.append(balanced_accuracy(table))
                else:
                    scores.append(FactorR2(factor.name, columns).score(train, test))
            error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
            points.append(Point(round(np.mean([t.n for t in trains])), float(np.mean(scores)), error))
    return [tuple(points) for points in found]
