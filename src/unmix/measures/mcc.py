"""The mean correlation coefficient after the best one-to-one matching."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix.measures.rows import SplitRows, split_rows
from unmix.moments import Moments


def mcc(embedding: Any, truth: Any, *, ranks: bool = False, seed: int = 0) -> float:
    """Mean over factors of |correlation| with the matched output, held out.

    The matching is chosen on a random half of the rows and scored on the other. The numbers of outputs
    and factors may differ; a factor left without an output counts 0.

    Parameters
    ----------
    embedding : (n, k) outputs.
    truth : (n, d) factors.
    ranks : Spearman's correlation instead of Pearson's.

    References
    ----------
    Hyvärinen & Morioka 2016; Zimmermann et al. 2021, Table 2 (Pearson, in sample) and Table 3 (Spearman).

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(100, 3))
    >>> round(mcc(-2 * z[:, [2, 0, 1]], z), 10)
    1.0
    """
    return split_mcc(split_rows(embedding, truth, seed), ranks)


def split_mcc(rows: SplitRows, ranks: bool = False) -> float:
    """`mcc` of rows that are already split."""
    parts = [rows.train_x, rows.train_y, rows.test_x, rows.test_y]
    if ranks:
        from scipy.stats import rankdata  # slow to import

        parts = [rankdata(part, axis=0) for part in parts]
    chosen, scored = np.abs(Moments.of(*parts[:2]).correlation), np.abs(Moments.of(*parts[2:]).correlation)
    output, factor = linear_sum_assignment(chosen, maximize=True)
    return float(scored[output, factor].sum() / scored.shape[1])
