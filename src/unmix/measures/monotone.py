"""Is each latent a monotone function of one output of its own?"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from unmix.measures.direction import Directions
from unmix.measures.sample import Sample

PLAUSIBLE = 0.1


def monotone_r2(sample: Sample) -> float:
    """The smallest R²(a) of the latents' ranks u, each from one output by a monotone function.

    u is the train part's empirical distribution function of a latent, with mid-ranks; outputs are matched by
    |Spearman correlation| and isotonic regressions fitted on the train part. The direction a is found in the residuals
    of the other folds. A worst single latent would not do: with outputs that are all the mean of latents that correlate
    by 0.97, every latent by itself looks well.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(1000, 2))
    >>> rows = np.arange(1000)
    >>> round(monotone_r2(Sample(-np.exp(z[:, ::-1]), z, rows % 64, rows, folds=5, seed=0)), 3)
    1.0
    """
    missed, spread = [], []
    for fold in range(sample.folds):
        test = sample.fold == fold
        train = ~test & (sample.fold >= 0)  # −1 between folds in time
        u_train, u_test = (_distribution(sample.y[train], sample.y[part]) for part in (train, test))
        guess = _fitted(sample.x[train], u_train, sample.x[test])
        residual, centred = u_test - guess, u_test - u_train.mean(0)
        missed.append(residual.T @ residual)
        spread.append(centred.T @ centred)
    u = _distribution(sample.y, sample.y)
    gram = (u - u.mean(0)).T @ (u - u.mean(0))
    return Directions.of(np.stack(spread), gram).weakest(np.stack(missed)).r2


def may_be_monotone(sample: Sample) -> bool:
    """Whether the ranks of each column of y correlate at all with those of a column of x of its own.

    Where they do not, the regressions of `monotone_r2` need not be fitted. The bound is low, as the ranks of a
    column with two values reach 0.87 at most, and 0.4 if one of them is rare.
    """
    if sample.x.shape[1] < sample.y.shape[1]:
        return False
    rho = np.abs(_rank_correlation(sample.x, sample.y))
    matched = rho[linear_sum_assignment(rho, maximize=True)]
    return bool(matched.min() >= PLAUSIBLE)


def _rank_correlation(x: Float64[ndarray, "n k"], y: Float64[ndarray, "n d"]) -> Float64[ndarray, "k d"]:
    from scipy.stats import rankdata  # slow to import

    ranks = [rankdata(side, axis=0) - (len(x) + 1) / 2 for side in (x, y)]
    norms = [np.sqrt((side**2).sum(0)) for side in ranks]
    found: Float64[ndarray, "k d"] = (ranks[0].T @ ranks[1]) / np.maximum(np.outer(*norms), 1e-300)
    return found


def _distribution(train: Float64[ndarray, "n d"], values: Float64[ndarray, "m d"]) -> Float64[ndarray, "m d"]:
    """The train part's empirical distribution function at other values; equal values share their middle."""
    found = np.empty(values.shape)
    for column, (known, asked) in enumerate(zip(np.sort(train, axis=0).T, values.T, strict=True)):
        below, through = (np.searchsorted(known, asked, side) for side in ("left", "right"))
        found[:, column] = (below + through) / (2 * len(known))
    return found


def _fitted(
    x: Float64[ndarray, "n k"], u: Float64[ndarray, "n d"], asked: Float64[ndarray, "m k"]
) -> Float64[ndarray, "m d"]:
    """The isotonic regression of each latent's u on its output; a latent without an output gets the mean."""
    from sklearn.isotonic import IsotonicRegression  # slow to import

    rho = _rank_correlation(x, u)
    found = np.tile(u.mean(0), (len(asked), 1))
    for output, latent in zip(*linear_sum_assignment(np.abs(rho), maximize=True), strict=True):
        model = IsotonicRegression(increasing=bool(rho[output, latent] >= 0), out_of_bounds="clip")
        found[:, latent] = model.fit(x[:, output], u[:, latent]).predict(asked[:, output])
    return found
