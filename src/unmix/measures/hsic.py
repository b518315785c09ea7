"""The unbiased Hilbert-Schmidt independence criterion, from sums."""

from __future__ import annotations

import numpy as np


def unbiased_hsic(n: float, both: float, rows: float, a: float, b: float) -> float:
    """n(n − 3) times the unbiased estimator for two matrices without their diagonals.

    tr(K̃L̃) + (1ᵀK̃1)(1ᵀL̃1)/((n−1)(n−2)) − 2/(n−2) 1ᵀK̃L̃1 (Song et al. 2012): `both`, `a`, `b` and `rows` are its
    four sums. Of distances instead of kernels it is the U-centred distance covariance (Székely & Rizzo 2013).
    """
    return both + a * b / ((n - 1) * (n - 2)) - 2 / (n - 2) * rows


def ratio(both: float, ours: float, theirs: float) -> float:
    """both/√(ours·theirs), and 0 where a side has no spread."""
    return float(both / np.sqrt(ours) / np.sqrt(theirs)) if ours > 0 and theirs > 0 else 0.0
