"""An embedding against known factors: the door, and the mean correlation coefficient."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.errors import require
from unmix.measures.matching import MCC
from unmix.measures.paired import Paired, listed, pair
from unmix.measures.rows import as_matrix
from unmix.tables import in_one_order, require_no_ids
from unmix.tables.foreign import known
from unmix.tables.rounding import only_rounding

FACTORS = MCC(every_factor=True)


def mcc(
    embedding: Any,
    truth: Any,
    *,
    ranks: bool = False,
    groups: Any = None,
    time: bool = False,
    blocks: int | None = None,
    folds: int = 5,
    seed: int = 0,
) -> float:
    """Mean over factors of |correlation| with the matched output, held out; a factor without an output counts 0.

    Parameters
    ----------
    embedding : (n, k) outputs.
    truth : (n, d) factors.
    ranks : Spearman's correlation instead of Pearson's.
    groups, time, blocks : how rows belong together, as in `recovery`.

    References
    ----------
    Hyvärinen & Morioka 2016; Zimmermann et al. 2021, Table 2 (Pearson, in sample) and Table 3 (Spearman).

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(100, 3))
    >>> round(mcc(-2 * z[:, [2, 0, 1]], z), 10)
    1.0
    """
    (embedding, truth, groups), notes = rows_joined(embedding, truth, groups, time or blocks is not None)
    for note in notes:
        warnings.warn(note, stacklevel=2)  # a number has no place for it
    x, y = as_matrix(embedding, "the embedding"), as_matrix(truth, "the truth")
    tables = (ranks_of(x), ranks_of(y)) if ranks else (x, y)
    paired = truth_door(*tables, groups=groups, time=time, blocks=blocks, folds=folds, seed=seed)
    return float(np.mean([FACTORS.score(*split) for split in paired.folds.splits()]))


def rows_joined(embedding: Any, truth: Any, groups: Any, time: bool) -> tuple[list[Any], tuple[str, ...]]:
    """All in the order of the embedding, where they have an index to join rows by, and notes of it."""
    names = "the embedding", "the truth", "groups"
    embedding, truth = known(embedding, names[0]), known(truth, names[1])
    require_no_ids([embedding, truth], names[:2], "leave it out of both, or make it the index")
    found, notes = in_one_order([embedding, truth, groups], names, time)
    return found, tuple(notes.values())


def ranks_of(table: Float64[ndarray, "n k"]) -> Float64[ndarray, "n k"]:
    """Each column's ranks, so that Pearson's correlation of them is Spearman's; rounding has no ranks."""
    from scipy.stats import rankdata  # slow to import

    table = np.where(only_rounding(table), table[0], table)
    return np.asarray(rankdata(table, axis=0), np.float64)


def truth_door(x: Float64[ndarray, "n k"], y: Float64[ndarray, "m d"], **asked: Any) -> Paired:
    """Pair an embedding with the truth; a truth that is constant, or constant in a fold, is refused."""
    paired = pair(x, y, names=("the embedding", "the truth"), **asked)
    still = np.ones(y.shape[1], bool)
    still[paired.kept_y] = False
    require(
        not still.any(), f"column {listed(still)} of the truth is constant, so nothing can recover it: leave it out."
    )
    still = np.any([np.diag(test.yy) == 0 for _, test in paired.folds.splits()], axis=0)
    require(
        not still.any(),
        f"column {listed(still)} of the truth varies in so few rows that it is constant in a fold: leave it out, give "
        "more rows or take fewer folds.",
    )
    return paired
