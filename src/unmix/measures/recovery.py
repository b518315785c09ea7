"""How far an embedding recovers known latents, and up to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unmix.errors import InputError, require
from unmix.indeterminacy import AFFINE, LADDER
from unmix.measures.asked import check_counts
from unmix.measures.evaluate import evaluate, evaluate_beside
from unmix.measures.ladder import TOLERANCE, minimal_classes
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
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    seed: int = 0,
) -> Recovery:
    """Fit each class of the ladder on all folds but one and score it on that one, for each fold in turn.

    R² is 1 − SSE/SST a dimension, SST about the test mean, never clipped, averaged over dimensions and folds.

    Parameters
    ----------
    embedding : (n, k) outputs f(x): arrays, tensors, or pandas tables, whose rows are joined by their index.
    truth : (n, d) latents z.
    tolerance : how much R² a smaller class may lose against affine and still explain the recovery.
    groups : (n,) labels of rows that belong together (sentences, subjects); folds and permutations keep them whole.
    bootstraps : resamples of chunks of rows for the intervals.
    permutations : of rows, or of whole groups, for the null.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(400, 3))
    >>> print(recovery(1 - z[:, [1, 2, 0]], z).minimal[0])  # on a box a flip needs the offset
    signed permutation + offset
    """
    (embedding, truth, groups), notes = rows_joined(embedding, truth, groups)
    x, y = as_matrix(embedding, "the embedding"), as_matrix(truth, "the truth")
    asked = {"groups": groups, "folds": folds, "seed": seed}
    paired = truth_door(x, y, **asked)
    check_counts(bootstraps, permutations)
    counts = {"bootstraps": bootstraps, "permutations": permutations}
    ranked = truth_door(ranks_of(x), ranks_of(y), **asked)
    found = recovery_of(paired, ranked, x.shape[1], tolerance, **counts)
    return replace(found, notes=(*notes, *found.notes))


def recovery_of(
    paired: Paired, ranked: Paired | None, width: int, tolerance: float = TOLERANCE, **counts: Any
) -> Recovery:
    """The recovery from an embedding of `width` columns that is paired with the truth already; `ranked` by ranks."""
    (affine, pearson), ladder = evaluate_beside(paired, SCORES, ladder_of(paired), **counts)
    spearman = evaluate(ranked, [FACTORS], **counts)[0] if ranked is not None else None
    return assembled(paired, width, affine, pearson, spearman, ladder, tolerance)


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
) -> Recovery:
    """A recovery from its scores; what a comparison would refuse for one measure is refused here for the whole."""
    number = isinstance(tolerance, (int, float))
    require(number and 0 <= tolerance < np.inf, f"tolerance must be at least 0 and finite, not {tolerance}.")
    for score in (affine, pearson, spearman):
        if isinstance(score, Refusal):
            raise InputError(f"nothing can be scored: {score.reason}.")
    assert isinstance(affine, Score)
    assert isinstance(pearson, Score)
    assert not isinstance(spearman, Refusal)
    train = paired.folds.splits(only=1)[0][0]
    classes = [m.up_to for m in ladder_of(paired)]
    steps = tuple(Step(c, c.fit(train), h) for c, h in zip(classes, ladder, strict=True))

    # Where affine itself gains no more than the tolerance, every class would do: none is named.
    telling = affine.above_chance and affine.value - affine.null > tolerance
    return Recovery(
        steps=steps,
        affine=affine,
        pearson=pearson,
        spearman=spearman,
        minimal=minimal_classes({s.up_to: s.r2 for s in steps}, tolerance) if telling else (),
        tolerance=tolerance,
        n=paired.rows,
        test_rows=np.flatnonzero(paired.chunk % paired.folds.count == 0),
        kept=paired.kept_x,
        width=width,
        notes=paired.notes,
    )
