"""How far a linear head recovers the cluster vectors, and how near to a rotation a fitted map is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.indeterminacy import Linear
from unmix.measures.recovered import Recovery
from unmix.measures.recovery import recovery
from unmix.measures.rows import as_matrix
from unmix.tables import in_one_order


def orthogonality_error(matrix: Float64[ndarray, "d k"], scale: float) -> tuple[float, float]:
    """mean |σ/s − 1| and mean |σ − s| over the singular values σ of a map, s being what a scaled rotation would have.

    The first is relative to the predicted scale; the second, absolute, is MAE_o of Reizinger et al. 2025, which a map
    of small scale passes with any shape: at κ = 50 the zero map has 0.02.

    Examples
    --------
    >>> orthogonality_error(np.diag([0.1, 0.12]), 0.1)
    (0.0999..., 0.0099...)
    """
    require(0 < scale < np.inf, f"the predicted scale must be positive and finite, not {scale}.")
    off = np.abs(np.linalg.svd(matrix, compute_uv=False) - scale)
    return float(off.mean() / scale), float(off.mean())


def collapse(rows: Any, classes: Any) -> float:
    """Σ_i ‖w_i − w̄_c(i)‖² / Σ_i ‖w_i − w̄‖²: the share of the rows' spread that lies within classes.

    Theory says 0: the rows of one class coincide. 1 is rows that know nothing of their class.

    Examples
    --------
    >>> collapse([[1.0], [1.0], [3.0], [3.0]], [0, 0, 1, 1])
    0.0
    """
    (rows, classes), _ = in_one_order([rows, classes], ["the rows of the head", "the classes"])
    w, c = as_matrix(rows, "the rows of the head").astype(np.float64), np.asarray(classes)
    require(c.shape == (len(w),), f"there must be one class a row: {len(w)} of them, not shape {c.shape}.")
    names, index = np.unique(c, return_inverse=True)
    means = np.zeros((len(names), w.shape[1]))
    np.add.at(means, index, w)
    means /= np.bincount(index)[:, None]
    total = float(((w - w.mean(0)) ** 2).sum())
    require(total > 0, "all rows of the head are equal: there is no spread to share out.")
    return float(((w - means[index]) ** 2).sum() / total)


@dataclass(frozen=True, eq=False, repr=False)
class HeadRecovery:
    """The cluster vectors from the rows of a head.

    Attributes
    ----------
    rows : scores with rows held out at random, as the papers do; where a class has several rows, they stand on both
        sides, so it leaks.
    clusters : scores with whole clusters held out: no row of a tested class was seen; None where there are too few.
    refused : why `rows` or `clusters` is None.
    collapse : see `collapse`; None where no class has two rows.
    """

    rows: Recovery | None
    clusters: Recovery | None
    refused: str
    collapse: float | None


def head_recovery(rows: Any, vectors: Any, classes: Any, *, seed: int = 0) -> HeadRecovery:
    """Held-out scores of the cluster vectors v_c(i) from the rows w_i.

    Parameters
    ----------
    rows : (n, k) rows of the head.
    vectors : (c, d) cluster vectors.
    classes : (n,) the class of each row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> v, c = rng.normal(size=(60, 3)), np.arange(600) % 60
    >>> found = head_recovery(2 * v[c], v, c)
    >>> round(found.clusters.r2(), 6), round(found.collapse, 6)
    (1.0, 0.0)
    """
    (rows, classes), _ = in_one_order([rows, classes], ["the rows of the head", "the classes"])
    index, centres = np.asarray(classes), as_matrix(vectors, "the cluster vectors")
    whole = index.ndim == 1 and len(index) > 0 and index.dtype.kind in "iu"
    require(
        whole and 0 <= index.min() <= index.max() < len(centres),
        f"classes must be whole numbers from 0 to {len(centres) - 1}, one a row of the head.",
    )
    truth = centres[index]
    found: list[Recovery | None] = []
    refused, several = "", len(np.unique(index)) < len(index)
    for groups in (None, index if several else None):  # a class of one row each is held out with it
        try:
            found.append(recovery(rows, truth, groups=groups, seed=seed))
        except InputError as error:
            found.append(None)
            refused = str(error)
    return HeadRecovery(found[0], found[1], refused, collapse(rows, index) if several else None)


def map_of(found: Recovery, offset: bool) -> Float64[ndarray, "d k"]:
    """The matrix of the linear (or affine) map of a recovery, fitted on its train part."""
    return found.step(Linear(offset)).map.matrix
