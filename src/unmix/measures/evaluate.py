"""Every score of a pair of representations, with its interval and its null."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from unmix.measures.asked import check_counts, check_measures
from unmix.measures.measure import LinearMeasure, Measure, RowMeasure
from unmix.measures.paired import Paired
from unmix.measures.resample import Advance, fold_mean, fold_profile, folds_to_resample, resample
from unmix.measures.sample import Columns, Pairings, Sample
from unmix.measures.score import Chance, HeldOut, Refusal, Score, jackknife_spread, scored
from unmix.threads import one_blas_thread


def evaluate(
    paired: Paired,
    measures: Sequence[Measure],
    *,
    bootstraps: int = 200,
    permutations: int = 199,
    advance: Advance = lambda: None,
) -> list[Score | Refusal]:
    """The scores of a pair, in the order of the measures.

    What is fitted is scored on held-out folds, what is not, on all rows. Intervals are a jackknife's over chunks of
    rows; of measures that match columns, a bootstrap's, unless there are fewer than 8 groups a fold. Permutations pair
    rows anew, whole groups at a time. Where a table is wider than 256 columns, bootstraps and permutations use the
    first fold only: such an interval is too wide rather than too narrow.

    Parameters
    ----------
    advance : called after each resample and permutation, and after each measure of rows; `work` says how often at most.
    """
    check_counts(bootstraps, permutations)
    check_measures(measures)
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
    found: dict[Measure, Score | Refusal] = {**refusals(paired, measures)}
    linear = [m for m in measures if isinstance(m, LinearMeasure) and m not in found]
    held_out = resample(paired, [*linear, *beside], bootstraps, advance) if linear or beside else []
    of_linear = chances(paired, linear, permutations, advance)
    found |= {
        m: scored(m, h, c, paired.rows, paired.groups) for m, h, c in zip(linear, held_out, of_linear, strict=False)
    }
    for m in measures:
        if isinstance(m, RowMeasure) and m not in found:
            # Score and chance on the same rows, so that pairs of rows of one group are as frequent in both.
            rows = paired.sample.exchangeable()
            a = m.assess(rows, permutations)
            whole = HeldOut(a.score, np.array([a.score]), jackknife_spread(a.left_out))
            chance = Chance(a.null_score, a.null, a.null_rows, a.beyond_place, rows.unjudged())
            groups = len(np.unique(rows.group)) if paired.groups else None
            found[m] = scored(m, whole, chance, len(rows.x), groups)
            advance()
    return [found[m] for m in measures], held_out[len(linear) :]


def refusals(paired: Paired, measures: Sequence[Measure]) -> dict[Measure, Refusal]:
    """The measures that would mean nothing on all rows, or on those that the null is taken on."""
    rows = paired.sample.exchangeable()
    why = ((m, _why_not(m, paired, rows)) for m in measures)
    return {m: Refusal(m, reason) for m, reason in why if reason is not None}


def _why_not(measure: Measure, paired: Paired, rows: Sample) -> str | None:
    widths = len(paired.kept_x), len(paired.kept_y)
    if isinstance(measure, RowMeasure):
        return measure.refusal(len(rows.x), *widths)
    a_fold = np.bincount(rows.fold[rows.fold >= 0], minlength=rows.folds)
    if a_fold.min() < 2:
        return "groups are too few or too unlike in size for a null: take fewer folds, or split large groups"
    null = int(a_fold.sum() - a_fold.max())
    refused = measure.refusal(min(paired.train_rows, null), *widths)
    if refused is not None or not isinstance(measure, LinearMeasure):
        return refused
    if not np.isfinite(fold_profile(measure, paired.folds, paired.folds.splits())).all():
        return "a column is constant in every fold: leave it out, give more rows or take fewer folds"
    return measure.unfit(paired.folds.chunks.pooled())


def chances(
    paired: Paired, measures: Sequence[LinearMeasure], permutations: int, advance: Advance = lambda: None
) -> list[Chance]:
    """The scores of sampled rows, and of the same rows paired anew."""
    if not measures:
        return []
    rows, only = paired.sample.exchangeable(), folds_to_resample(paired)
    pairings = Pairings(rows)

    def scores(order: Int64[ndarray, " m"]) -> list[float]:
        folds = pairings.folds(order)
        splits = folds.splits(only)
        return [fold_mean(m, folds, splits) for m in measures]

    return permuted(rows, scores, [m.targets for m in measures], permutations, advance)


@one_blas_thread()
def permuted(
    rows: Sample,
    scores: Callable[[Int64[ndarray, " m"]], list[float]],
    targets: Sequence[Columns],
    permutations: int,
    advance: Advance = lambda: None,
) -> list[Chance]:
    """What `scores` gives for rows as they are, and paired anew.

    Parameters
    ----------
    targets : the columns of y that each of the scores is about.
    """
    observed, null = scores(np.arange(len(rows.x))), []
    for order in rows.orders(permutations):
        null.append(scores(order))
        advance()
    unjudged = {t: rows.unjudged(t) for t in set(targets)}
    shared = {t: rows.shares_place(t) for t in set(targets)}
    beyond = [scores(order) for order in rows.orders(permutations, rotated=False)] if any(shared.values()) else null
    return [
        Chance(o, n, len(rows.x), b if shared[t] else None, unjudged[t])
        for o, n, b, t in zip(observed, np.array(null).T, np.array(beyond).T, targets, strict=True)
    ]
