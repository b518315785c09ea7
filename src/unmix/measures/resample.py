"""Held-out scores from moments, and their intervals from resampled chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.measures.measure import LinearMeasure
from unmix.measures.paired import Paired
from unmix.measures.score import HeldOut, bootstrap_spread, jackknife_spread
from unmix.moments import Folds, Split
from unmix.moments.accumulate import workers

WIDE, ENOUGH_CHUNKS, BATCH_BYTES = 256, 8, 2**27
Advance = Callable[[], None]


def resample(
    paired: Paired, measures: Sequence[LinearMeasure], bootstraps: int, advance: Advance = lambda: None
) -> list[HeldOut]:
    """The scores, with their intervals but without a null."""
    splits = paired.folds.splits()
    drawn = [m for m in measures if m.fitted and enough_chunks(paired)]
    resampled = _resampled(paired, drawn, bootstraps, advance) if drawn else np.empty((0, 0))
    found = []
    for m in measures:
        if m in drawn:
            spread = bootstrap_spread(resampled[:, drawn.index(m)], chunks_a_fold(paired))
        else:
            spread = jackknife_spread(_left_out(m, paired))
        found.append(HeldOut(fold_mean(m, paired.folds, splits), fold_profile(m, paired.folds, splits), spread))
    return found


def _resampled(
    paired: Paired, measures: Sequence[LinearMeasure], bootstraps: int, advance: Advance
) -> Float64[ndarray, "b m"]:
    """The scores of each resample, as many at a time as memory allows."""
    only, draws = folds_to_resample(paired), paired.folds.draws(bootstraps, paired.sample.seed)

    def scores(some: Float64[ndarray, "some chunks"]) -> list[list[float]]:
        resampled = paired.folds.resampled(some, only)
        return [[fold_mean(m, paired.folds, splits) for m in measures] for splits in resampled]

    parts = 2 if only == 1 else paired.folds.count
    with workers() as threads:
        room = max(1, BATCH_BYTES // (threads.count * parts * paired.folds.chunks.sums[0].nbytes))
        batches = max(threads.count, -(-bootstraps // room))
        found = []
        run = threads.pool.map if only == 1 else map  # of narrow tables threads would only wait for each other
        for some in run(scores, np.array_split(draws, batches)):
            found += some
            for _ in some:
                advance()
    return np.array(found)


def chunks_a_fold(paired: Paired) -> float:
    return int((paired.folds.chunks.rows > 0).sum()) / paired.folds.count


def enough_chunks(paired: Paired) -> bool:
    """With a handful of groups a fold, a resample of them may be one group over and over."""
    return chunks_a_fold(paired) >= ENOUGH_CHUNKS


def folds_to_resample(paired: Paired) -> int | None:
    """The first only, of wide tables."""
    return 1 if max(len(paired.kept_x), len(paired.kept_y)) > WIDE else None


def fold_mean(measure: LinearMeasure, folds: Folds, splits: list[Split]) -> float:
    """The held-out score: the mean of `fold_profile`'s parts."""
    parts = fold_profile(measure, folds, splits)
    counted = parts[np.isfinite(parts)]
    return float(counted.mean()) if len(counted) else 0.0


def fold_profile(measure: LinearMeasure, folds: Folds, splits: list[Split]) -> Float64[ndarray, " p"]:
    """The parts of the score, each averaged over the folds that can score it; −∞ where none can.

    Where nothing is fitted, of all rows at once. Where ranks differ between folds, the directions that all have.
    """
    if not measure.fitted:
        whole = folds.chunks.pooled()
        return measure.profile(whole, whole)
    profiles = [measure.profile(*split) for split in splits]
    fewest = min(map(len, profiles))
    table = np.stack([p[:fewest] for p in profiles])
    there = np.isfinite(table)
    mean = np.where(there, table, 0).sum(0) / np.maximum(there.sum(0), 1)
    return np.where(there.any(0), mean, -np.inf)


def _left_out(measure: LinearMeasure, paired: Paired) -> Float64[ndarray, " g"]:
    """The score without each chunk in turn."""
    found = []
    for chunk in np.flatnonzero(paired.folds.chunks.rows > 0):
        kept = np.ones(len(paired.folds.chunks.sums))
        kept[chunk] = 0
        if measure.fitted:
            found.append(fold_mean(measure, paired.folds, paired.folds.splits(weights=kept)))
        else:
            part = paired.folds.chunks.pooled(kept)
            found.append(measure.score(part, part))
    return np.array(found)
