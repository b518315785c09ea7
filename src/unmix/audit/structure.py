"""Which outputs go with which factors, how factors depend on one another, and how many directions outputs have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from unmix.factors import Factor
from unmix.indeterminacy import AFFINE
from unmix.measures.dependence import dependence
from unmix.moments import Folds, Moments
from unmix.moments.whitening import whitening

FEW_ROWS = 20


def association(pooled: Moments, columns: Sequence[int]) -> Float64[ndarray, " k"]:
    """For each output, its correlation with the best linear function of a factor's columns.

    Of one column this is Pearson's r with its sign; of an angle the multiple correlation with cosine and sine; of
    classes the correlation ratio η. Taken on all rows.
    """
    chosen = list(columns)
    cross, spread = pooled.xy[:, chosen], np.diag(pooled.xx)
    root = whitening(pooled.yy[np.ix_(chosen, chosen)])
    explained = ((cross @ root) ** 2).sum(1)
    size = np.sqrt(np.clip(np.divide(explained, spread, out=np.zeros(len(spread)), where=spread > 0), 0, 1))
    return size * np.sign(cross[:, 0]) if len(chosen) == 1 else size


def matched(associations: Float64[ndarray, "k d"]) -> dict[int, int]:
    """Factor → output, one to one, so that the sum of |association| is largest."""
    outputs, factors = linear_sum_assignment(np.abs(associations), maximize=True)
    return dict(zip(factors.tolist(), outputs.tolist(), strict=True))


def dependence_of(factors: Sequence[Factor]) -> Float64[ndarray, " d"] | None:
    """R² of each factor from the others, on rows where all are known; None where these are too few."""
    complete = np.all([f.present for f in factors], axis=0)
    width = sum(f.targets.shape[1] for f in factors)
    if len(factors) < 2 or complete.sum() < max(FEW_ROWS, 3 * width):
        return None
    targets = np.hstack([f.targets[complete] for f in factors])
    owner = np.repeat(np.arange(len(factors)), [f.targets.shape[1] for f in factors])
    centred = targets - targets.mean(0)
    return dependence(centred.T @ centred, len(centred), owner)


def spectrum(pooled: Moments) -> Float64[ndarray, " k"]:
    """The shares of variance of the principal directions of the outputs, largest first."""
    values = np.maximum(np.linalg.eigvalsh(pooled.xx)[::-1], 0)
    return values / values.sum()


def effective_dimension(shares: Float64[ndarray, " k"]) -> float:
    """The participation ratio 1/Σ share²: how many directions of equal variance would spread as much."""
    return float(1 / (shares**2).sum())


def explained_share(folds: Folds) -> float:
    """How much of the variance of the outputs is linear in the factors (of y), on held-out rows."""
    turned = [(train.swapped(), test.swapped()) for train, test in folds.splits()]
    wrong = sum(AFFINE.fit(train).errors(test).sum() for train, test in turned)
    return float(1 - wrong / sum(test.squares_about(train.mean_y).sum() for train, test in turned))
