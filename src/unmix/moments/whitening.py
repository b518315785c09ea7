"""Whitening with an explicit rank cut: what regression and CCA stand on."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.linalg import lapack

WELL_CONDITIONED = 1e-9
RANK_CUT = 1e-12  # a direction with a millionth of the spread: in single precision it is rounding


def whitening(gram: Float64[ndarray, "k k"]) -> Float64[ndarray, "k r"]:
    """R with RᵀΣR = I on the directions that vary; r is the rank of Σ.

    Columns are scaled to unit variance first, so that the rank does not depend on their units. A well-conditioned
    Σ is factored by Cholesky; otherwise eigenvalues below 1e-12 of the largest are cut.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 2)) @ np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])
    >>> whitening(x.T @ x).shape
    (3, 2)
    """
    scale = np.sqrt(np.maximum(np.diag(gram), 0))
    scale[scale == 0] = 1
    unit = gram / np.outer(scale, scale)
    factor = cholesky(unit)
    if factor is not None:
        inverse, _ = lapack.dtrtri(factor)  # Σ = UᵀU, so R = U⁻¹
        return np.triu(inverse) / scale[:, None]
    values, vectors = np.linalg.eigh(unit)
    kept = values > max(values[-1], 0) * RANK_CUT
    return vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]


def solve(
    gram: Float64[ndarray, "k k"], right: Float64[ndarray, "k d"], factor: Float64[ndarray, "k k"] | None
) -> Float64[ndarray, "k d"]:
    """The least-squares solution of Σ A = right, of least norm in columns of unit variance where Σ has no inverse.

    Parameters
    ----------
    factor : Σ's, as `cholesky` gives it.

    Examples
    --------
    >>> flat = np.array([[2.0, 0.0], [0.0, 0.0]])
    >>> solve(flat, np.array([[4.0], [0.0]]), cholesky(flat)).round(9).tolist()
    [[2.0], [0.0]]
    """
    if factor is not None:
        return lapack.dpotrs(factor, right)[0]
    root = whitening(gram)
    return root @ (root.T @ right)


def cholesky(gram: Float64[ndarray, "k k"]) -> Float64[ndarray, "k k"] | None:
    """The upper factor U of Σ = UᵀU, or None where Σ is not well-conditioned."""
    if np.diag(gram).min(initial=np.inf) <= 0:
        return None
    factor, failed = lapack.dpotrf(gram)
    if failed:
        return None
    rcond, _ = lapack.dpocon(factor, np.abs(gram).sum(0).max())
    return factor if rcond > WELL_CONDITIONED else None
