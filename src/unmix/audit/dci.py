"""Disentanglement and completeness: does an output serve one factor, does a factor live in one output?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy import ndarray


@dataclass(frozen=True, eq=False)
class DCI:
    """Disentanglement and completeness of an importance matrix R (outputs × factors).

    With p_ij = R_ij/Σ_j R_ij, an output's disentanglement is 1 − H(p_i)/log d; their mean weighs outputs by Σ_j R_ij.
    Completeness is the same down the columns, 1 − H/log k, and its mean is over factors with any importance. Both lie
    between 0 and 1. Informativeness is the mean of the probes' held-out scores, chance and what is below it being 0.

    References
    ----------
    Eastwood & Williams 2018. In an audit, importance is the loss of held-out score when an output is permuted.

    Examples
    --------
    >>> DCI.of(np.eye(3)).disentanglement, round(DCI.of(np.ones((3, 3))).completeness, 9)
    (1.0, 0.0)
    """

    importance: Float64[ndarray, "k d"]
    disentanglement: float
    completeness: float
    of_output: Float64[ndarray, " k"]
    of_factor: Float64[ndarray, " d"]
    informativeness: float = np.nan

    @classmethod
    def of(cls, importance: Float64[ndarray, "k d"], informativeness: float = np.nan) -> DCI:
        """Of importances of at least 0."""
        of_output, of_factor = _focus(importance), _focus(importance.T)
        weight, used = importance.sum(1), importance.sum(0) > 0
        if not used.any():
            return cls(importance, 0.0, 0.0, of_output, of_factor, informativeness)
        mean = float(weight @ of_output / weight.sum())
        return cls(importance, mean, float(of_factor[used].mean()), of_output, of_factor, informativeness)


def _focus(table: Float64[ndarray, "r c"]) -> Float64[ndarray, " r"]:
    """1 − entropy/log c of each row's shares; 0 of a row of zeros."""
    sums = table.sum(1, keepdims=True)
    share = np.divide(table, sums, out=np.full(table.shape, 1 / table.shape[1]), where=sums > 0)
    entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(1)
    return np.maximum(1 - entropy / np.log(table.shape[1]), 0) if table.shape[1] > 1 else np.ones(len(table))
