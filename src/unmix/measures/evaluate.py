"""Every score of a pair of representations, with its interval and its null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.measures.asked import check_counts, check_measures
from unmix.measures.measure import LinearMeasure, Measure, RowMeasure
from unmix.measures.paired import Paired
from unmix.measures.sample import Pairings, Sample
from unmix.measures.score import Refusal, Score, bootstrap_spread, jackknife_spread, scored
from unmix.moments import Folds, Split
from unmix.threads import one_blas_thread

WIDE, ENOUGH_CHUNKS = 256, 8
Advance = Callable[[], None]


def evaluate(
    paired: Paired,
    measures: Sequence[Measure],
    *,
    bootstraps: int = 200,
    permutations: int = 199,
    advance: Advance = lambda: None,
) -> list[Score | Refusal]:
    """The scores of a pair, in the order of the measures.

    What is fitted is scored on held-out folds, with a bootstrap over chunks; what is not, on all rows, with a
    jackknife over chunks, and so is everything where there are fewer than 8 groups a fold. Permutations pair rows
    anew, whole groups at a time. Where a table is wider than 256 columns, resamples and permutations use the first
    fold only: the interval is then too wide rather than too narrow.

    Parameters
    ----------
    advance : called after each resample and permutation, and after each measure of rows; `work` says how often at most.
    """
    return evaluate_beside(paired, measures, (), bootstraps, permutations, advance)[0]


@one_blas_thread()  # thousands of small factorisations: threads would only wait
def evaluate_beside(
    paired: Paired,
    measures: Sequence[Measure],
    beside: Sequence[LinearMeasure],
    bootstraps: int,
    permutations: int,
    advance: Advance = lambda: None,
) -> tuple[list[Score | Refusal], list[HeldOut]]:
    """As `evaluate`, with more measures that need an interval but no null: they share the resamples."""
    check_counts(bootstraps, permutations)
    check_measures(measures)
    rows = paired.sample.exchangeable()
    refused = {m: _refusal(m, paired, rows) for m in measures}
    linear = [m for m in measures if isinstance(m, LinearMeasure) and refused[m] is None]
    found: dict[Measure, Score | Refusal] = {m: Refusal(m, why) for m, why in refused.items() if why is not None}
    held_out = resample(paired, [*linear, *beside], bootstraps, advance) if linear or beside else []
    scores = _with_null(paired, rows, linear, held_out, permutations, advance)
    found |= dict(zip(linear, scores, strict=True))
    for m in measures:
        if isinstance(m, RowMeasure) and m not in found:
            a = m.assess(paired.sample, permutations)
            taken = len(paired.sample.x), a.null_rows
            spread, profile = jackknife_spread(a.left_out), np.array([a.score])
            found[m] = scored(m, a.score, spread, a.null_score, a.null, taken, profile)
            advance()
    return [found[m] for m in measures], held_out[len(linear) :]


def _refusal(measure: Measure, paired: Paired, rows: Sample) -> str | None:
    """Why a measure would mean nothing on all rows, or on `rows`, those that the null is taken on."""
    widths = len(paired.kept_x), len(paired.kept_y)
    if isinstance(measure, RowMeasure):
        return measure.refusal(len(rows.x), *widths)
    a_fold = np.bincount(rows.fold, minlength=rows.folds)
    if a_fold.min() < 2:
        return "groups are too few or too unlike in size for a null: take fewer folds, or split large groups"
    null = len(rows.x) - int(a_fold.max())
    refused = measure.refusal(min(paired.train_rows, null), *widths)
    if refused is not None or not isinstance(measure, LinearMeasure):
        return refused
    if not np.isfinite(fold_profile(measure, paired.folds, paired.folds.splits())).all():
        return "a column is constant in every fold: leave it out, give more rows or take fewer folds"
    return measure.unfit(paired.folds.chunks.pooled())


def _with_null(
    paired: Paired,
    rows: Sample,
    measures: Sequence[LinearMeasure],
    held_out: Sequence[HeldOut],
    permutations: int,
    advance: Advance,
) -> list[Score | Refusal]:
    if not measures:
        return []
    only = _folds_to_resample(paired)
    pairings = Pairings(rows)
    now = pairings.folds(np.arange(len(rows.x)))
    observed = [fold_mean(m, now, now.splits(only)) for m in measures]
    null = np.empty((permutations, len(measures)))
    for i, order in enumerate(rows.orders(permutations)):
        anew = pairings.folds(order)
        some = anew.splits(only)
        null[i] = [fold_mean(m, anew, some) for m in measures]
        advance()
    taken = paired.rows, len(rows.x)
    return [
        scored(m, h.value, h.spread, observed[i], null[:, i], taken, h.profile)
        for i, (m, h) in enumerate(zip(measures, held_out, strict=False))
    ]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A held-out score, its parts, and how far its 95 % interval reaches below and above it."""

    value: float
    profile: Float64[ndarray, " p"]
    spread: tuple[float, float]


@one_blas_thread()
def resample(
    paired: Paired, measures: Sequence[LinearMeasure], bootstraps: int, advance: Advance = lambda: None
) -> list[HeldOut]:
    """The scores from moments, with their intervals but without a null."""
    splits, only = paired.folds.splits(), _folds_to_resample(paired)
    chunks_a_fold = int((paired.folds.chunks.rows > 0).sum()) / paired.folds.count
    # With a handful of groups a fold, a resample of them may be one group over and over.
    drawn = [m for m in measures if m.fitted and chunks_a_fold >= ENOUGH_CHUNKS]
    resampled = np.empty((bootstraps if drawn else 0, len(drawn)))
    for i, some in enumerate(paired.folds.resampled(len(resampled), paired.sample.seed, only)):
        resampled[i] = [fold_mean(m, paired.folds, some) for m in drawn]
        advance()
    found = []
    for m in measures:
        if m in drawn:
            spread = bootstrap_spread(resampled[:, drawn.index(m)], chunks_a_fold)
        else:
            spread = jackknife_spread(_left_out(m, paired))
        found.append(HeldOut(fold_mean(m, paired.folds, splits), fold_profile(m, paired.folds, splits), spread))
    return found


def _folds_to_resample(paired: Paired) -> int | None:
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
