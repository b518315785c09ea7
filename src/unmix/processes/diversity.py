"""How diverse cluster vectors are: the ranks that the theorems of Reizinger et al. 2025 ask for."""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Tensor


def differences(v: Float64[Tensor, "c d"]) -> Float64[Tensor, "c d"]:
    """v_c − v̄, whose rank is d if and only if the vectors are an affine generator system of R^d."""
    return v - v.mean(0)


def published(v: Float64[Tensor, "c d"]) -> Float64[Tensor, "c m"]:
    """[v∘v, v], m = 2d: the condition of case C3 as printed."""
    return torch.cat([v * v, v], 1)


def corrected(v: Float64[Tensor, "c d"]) -> Float64[Tensor, "c m"]:
    """[vech(vvᵀ), v], m = d(d+3)/2: all products, not the squares alone.

    Unit rows w = Bv + ψ mean vᵀBᵀBv + 2ψᵀBv + ‖ψ‖² = 1 = vᵀv for every cluster vector: one linear equation a cluster in
    the symmetric matrix BᵀB − (1 − ‖ψ‖²)I and the vector Bᵀψ. If these columns are independent, both must vanish, so
    that B is orthogonal and ψ = 0. It takes at least d(d+3)/2 clusters.

    Examples
    --------
    >>> corrected(torch.eye(2, dtype=torch.float64)).tolist()
    [[1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 1.0]]
    """
    i, j = torch.triu_indices(v.shape[1], v.shape[1])
    return torch.cat([v[:, i] * v[:, j], v], 1)


def needed(dimension: int) -> int:
    """d(d+3)/2.

    Examples
    --------
    >>> [needed(d) for d in (5, 10, 20)]
    [20, 65, 230]
    """
    return dimension * (dimension + 3) // 2


def rank(table: Float64[Tensor, "c m"]) -> int:
    return int(torch.linalg.matrix_rank(table))
