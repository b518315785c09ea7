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
from unmix.measures.truth import FACTORS, ranks_of, truth_door

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

    R² is 1 − SSE/SST a dimension, SST about the test mean, never clipped, averaged over dimensions and folds.

    Parameters
    ----------
    embedding : (n, k) outputs f(x); arrays or tensors.
    truth : (n, d) latents z.
    tolerance : how much R² a smaller class may lose against affine and still explain the recovery.
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
    x, y = as_matrix(embedding, "the embedding"), as_matrix(truth, "the truth")
    asked = {"groups": groups, "time": time, "blocks": blocks, "folds": folds, "seed": seed}
    paired = truth_door(x, y, **asked)
    check_counts(bootstraps, permutations)
    counts = {"bootstraps": bootstraps, "permutations": permutations}
    ranked = truth_door(ranks_of(x), ranks_of(y), **asked)
    found = recovery_of(paired, ranked, x.shape[1], tolerance, **counts)
    return replace(found, notes=(*found.notes, *paired.notes_on_neighbours()))


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
    telling = (affine.above_chance or affine.p_value is None) and affine.value - affine.null > tolerance
    return Recovery(
        steps=steps,
        affine=affine,
        pearson=pearson,
        spearman=spearman,
        minimal=minimal_classes({s.up_to: s.r2 for s in steps}, tolerance) if telling else (),
        tolerance=tolerance,
        n=paired.rows,
        test_rows=np.flatnonzero(paired.fold == 0),
        kept=paired.kept_x,
        width=width,
        notes=paired.notes,
    )
