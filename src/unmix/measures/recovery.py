"""How far an embedding recovers known latents, and up to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unmix.errors import InputError, require
from unmix.indeterminacy import AFFINE, LADDER, GeneralisedPermutation
from unmix.measures.asked import check_counts
from unmix.measures.dependence import TOGETHER, dependence, tied
from unmix.measures.evaluate import evaluate, evaluate_beside
from unmix.measures.ladder import TOLERANCE, climbed
from unmix.measures.monotone import monotone_r2
from unmix.measures.paired import Paired
from unmix.measures.recovered import Recovery, Step
from unmix.measures.regression import UpTo
from unmix.measures.rows import as_matrix
from unmix.measures.score import HeldOut, Refusal, Score
from unmix.measures.truth import FACTORS, ranks_of, rows_joined, truth_door

SCORES = UpTo(AFFINE), FACTORS


def recovery(
    embedding: Any,
    truth: Any,
    *,
    tolerance: float = TOLERANCE,
    groups: Any = None,
    time: bool = False,
    blocks: int | None = None,
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    seed: int = 0,
) -> Recovery:
    """Fit each class of the ladder on all folds but one and score it on that one, for each fold in turn.

    R² is 1 − ΣSSE/ΣSST a dimension, both summed over folds, SST about the train mean, never clipped; their mean.

    Parameters
    ----------
    embedding : (n, k) outputs f(x): arrays, tensors, or pandas tables, whose rows are joined by their index.
    truth : (n, d) latents z.
    tolerance : how much of the variance in any direction of the truth a class may lose against affine maps and still
        be named.
    groups : (n,) labels of rows that belong together (sentences, subjects), each group's rows in their order; folds
        keep groups whole, permutations move and rotate them.
    time : rows are in time: folds are consecutive rows with gaps between them, and chance is of shifts in time.
    blocks : rows in time, of which so many in a row are taken as a group.
    bootstraps : resamples of chunks of rows for the intervals.
    permutations : of rows or groups for the null; in time, the most shifts.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(400, 3))
    >>> print(recovery(1 - z[:, [1, 2, 0]], z).minimal[0])  # on a box a flip needs the offset
    signed permutation + offset
    """
    real = isinstance(tolerance, (int, float))
    require(real and 0 <= tolerance < np.inf, f"tolerance must be at least 0 and finite, not {tolerance}.")
    (embedding, truth, groups), notes = rows_joined(embedding, truth, groups, time or blocks is not None)
    x, y = as_matrix(embedding, "the embedding"), as_matrix(truth, "the truth")
    asked = {"groups": groups, "time": time, "blocks": blocks, "folds": folds, "seed": seed}
    paired = truth_door(x, y, **asked)
    check_counts(bootstraps, permutations)
    counts: dict[str, Any] = {"bootstraps": bootstraps, "permutations": permutations}
    ranked = truth_door(ranks_of(x), ranks_of(y), **asked)
    found = recovery_of(paired, ranked, x.shape[1], tolerance, **counts)
    return replace(found, notes=(*notes, *paired.seen(("the embedding", "the truth")), *_tied(paired)))


def _tied(paired: Paired) -> tuple[str, ...]:
    """A note on latents that the others predict; they may be read one for another."""
    pooled = paired.folds.chunks.pooled()
    d = len(pooled.mean_y)
    if d < 2 or pooled.n < 3 * d:
        return ()
    said = tied(_names(d), dependence(pooled.yy, pooled.n, np.arange(d)))
    return (f"{said}. {TOGETHER.rstrip('.')}",) if said else ()


def _names(latents: int) -> tuple[str, ...]:
    return tuple(f"latent {k + 1}" for k in range(latents))


def recovery_of(
    paired: Paired,
    ranked: Paired | None,
    width: int,
    tolerance: float = TOLERANCE,
    columns: Sequence[str] | None = None,
    **counts: Any,
) -> Recovery:
    """The recovery from an embedding of `width` columns that is paired with the truth already; `ranked` by ranks."""
    (affine, pearson), ladder = evaluate_beside(paired, SCORES, ladder_of(paired), **counts)
    spearman = evaluate(ranked, [FACTORS], **counts)[0] if ranked is not None else None
    return assembled(paired, width, affine, pearson, spearman, ladder, tolerance, columns)


def ladder_of(paired: Paired) -> list[UpTo]:
    """The classes that apply."""
    return [UpTo(c) for c in LADDER if c.applies(len(paired.kept_x), len(paired.kept_y))]


def assembled(
    paired: Paired,
    width: int,
    affine: Score | Refusal,
    pearson: Score | Refusal,
    spearman: Score | Refusal | None,
    ladder: Sequence[HeldOut],
    tolerance: float = TOLERANCE,
    columns: Sequence[str] | None = None,
) -> Recovery:
    """A recovery from its scores; what a comparison would refuse for one measure is refused here for the whole."""
    for score in (affine, pearson, spearman):
        if isinstance(score, Refusal):
            raise InputError(f"nothing can be scored: {score.reason}.")
    assert isinstance(affine, Score)
    assert isinstance(pearson, Score)
    assert not isinstance(spearman, Refusal)
    train = paired.folds.splits(only=1)[0][0]
    classes = [m.up_to for m in ladder_of(paired)]
    steps = tuple(Step(c, c.fit(train), h) for c, h in zip(classes, ladder, strict=True))

    verdict = climbed(paired.folds, affine.value, tolerance, told=affine.can_tell)
    permuted = any(c <= GeneralisedPermutation(offset=True) for c in verdict.named)
    return Recovery(
        steps=steps,
        affine=affine,
        pearson=pearson,
        spearman=spearman,
        ladder=verdict,
        monotone=None if permuted else monotone_r2(paired.sample),
        tolerance=tolerance,
        n=paired.rows,
        test_rows=np.flatnonzero(paired.fold == 0),
        kept=paired.kept_x,
        width=width,
        columns=tuple(columns or _names(len(paired.kept_y))),
        notes=paired.notes,
    )
