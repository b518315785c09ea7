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
    """The scores, with their intervals but without a null.

    The interval is a jackknife's over chunks, which covers better where rows are few; of measures that jump it is a
    bootstrap's over chunks, unless these are too few to be drawn from.
    """
    drawn = [m for m in measures if m.fitted and m.jumps and enough_chunks(paired)]
    smooth = [m for m in measures if m not in drawn]
    spreads: dict[LinearMeasure, tuple[float, float]] = {}
    if drawn:
        resampled = _resampled(paired, drawn, bootstraps, advance)
        chunks = chunks_a_fold(paired)
        spreads |= {m: bootstrap_spread(some, chunks) for m, some in zip(drawn, resampled.T, strict=True)}
    if smooth:
        left_out = _left_out(paired, smooth, advance)
        spreads |= {m: jackknife_spread(some) for m, some in zip(smooth, left_out.T, strict=True)}
    splits = paired.folds.splits()
    scored = ((m, fold_mean(m, paired.folds, splits), fold_profile(m, paired.folds, splits)) for m in measures)
    return [HeldOut(value, profile, spreads[m]) for m, value, profile in scored]


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
    """The parts of the score over all folds (`LinearMeasure.over`); where nothing is fitted, of all rows at once."""
    if not measure.fitted:
        whole = folds.chunks.pooled()
        return measure.profile(whole, whole)
    return measure.over(splits)


def _left_out(paired: Paired, measures: Sequence[LinearMeasure], advance: Advance) -> Float64[ndarray, "g m"]:
    """The scores without each chunk in turn."""
    folds, fitted = paired.folds, any(m.fitted for m in measures)

    def scores(chunk: int) -> list[float]:
        kept = np.ones(len(folds.chunks.sums))
        kept[chunk] = 0
        splits = folds.splits(weights=kept) if fitted else []
        whole = folds.chunks.pooled(kept)
        advance()
        return [fold_mean(m, folds, splits) if m.fitted else m.score(whole, whole) for m in measures]

    with workers() as threads:
        wide = max(len(paired.kept_x), len(paired.kept_y)) > WIDE
        run = threads.pool.map if wide else map  # of narrow tables threads would only wait for each other
        return np.array(list(run(scores, np.flatnonzero(folds.chunks.rows > 0).tolist())))
