"""How far factors go together: what is credited to one may then belong to another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.measures.digits import number
from unmix.measures.names import in_a_row

RIDGE, TIED = 1e-8, 1e-6
DEPENDENT = 0.1  # the R² from the others from which a factor is said to depend on them
TOGETHER = "What is credited to one may belong to another that goes with it: read them together, or balance the rows."


def dependence(gram: Float64[ndarray, "t t"], rows: float, owner: Int64[ndarray, " t"]) -> Float64[ndarray, " d"]:
    """R² of each factor from all others, from the centred second moments of their columns.

    From k columns R² of n independent rows is about k/n, which is taken off (Ezekiel 1930).

    Parameters
    ----------
    owner : the number of the factor that each column is of.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(1000, 3))
    >>> z[:, 2] = z[:, 0] + z[:, 1]
    >>> dependence((z - z.mean(0)).T @ (z - z.mean(0)), 1000, np.arange(3)).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    # What the others leave of a factor is the inverse of its block of the inverse of all moments: one decomposition for
    # all factors. The ridge is what ties among columns are told by: far below what anyone would call a rest, and not so
    # small that the inverse of a block with a tie, such as all classes of a factor, would be rounding.
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1
    values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
    rank, found = int((values > RIDGE).sum()), []
    root = vectors / np.sqrt(np.maximum(values, 0) + RIDGE)
    for i in range(int(owner.max()) + 1):
        own = np.flatnonzero(owner == i)
        known, axes = np.linalg.eigh(root[own] @ root[own].T)
        left = 1 / known
        others = rank - int((left > TIED).sum())
        size = np.diag(gram)[own].sum()
        share = ((axes**2) @ left) @ scale[own] ** 2 / size if size > 0 else 1.0
        found.append(max(0.0, 1 - share * (rows - 1) / (rows - others - 1)))
    return np.array(found)


def tied(names: Sequence[str], found: Float64[ndarray, " d"]) -> str:
    """The factors that the others predict, in words; empty where there are none.

    Examples
    --------
    >>> tied(["size", "hue"], np.array([0.81, 0.02]))
    'the other factors predict size (R² 0.810)'
    """
    told = [f"{name} (R² {number(r2)})" for name, r2 in zip(names, found, strict=True) if r2 > DEPENDENT]
    return f"the other factors predict {in_a_row(told)}" if told else ""
