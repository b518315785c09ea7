"""Similarities from the Lp distance: its p-th power, and the distance itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require


@dataclass(frozen=True)
class Lp:
    """s(a, b) = −Σ_k |a_k − b_k|^p, the p-th power of the Lp distance, p ≥ 1.

    Examples
    --------
    >>> Lp(3).rows(torch.zeros(1, 2), torch.full((1, 2), 2.0)).item()
    -16.0
    """

    p: float

    def __post_init__(self) -> None:
        require_exponent(self.p)

    @property
    def degree(self) -> float:
        return float(self.p)

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        return -(a - b).abs().pow(self.p).sum(-1)

    def matrix(self, a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
        return -(a[:, None] - b).abs().pow(self.p).sum(-1)

    def __str__(self) -> str:
        return f"−L{self.p:g}^{self.p:g}" if self.p != 1 else "−L1"


@dataclass(frozen=True)
class LpNorm:
    """s(a, b) = −(Σ_k |a_k − b_k|^p)^{1/p}, the Lp distance itself, p ≥ 1.

    Examples
    --------
    >>> LpNorm(2).rows(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])).item()
    -5.0
    """

    p: float

    def __post_init__(self) -> None:
        require_exponent(self.p)

    @property
    def degree(self) -> float:
        return 1.0

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        return -torch.linalg.vector_norm(a - b, ord=self.p, dim=-1)

    def matrix(self, a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
        return -torch.linalg.vector_norm(a[:, None] - b, ord=self.p, dim=-1)

    def __str__(self) -> str:
        return f"−L{self.p:g}"


def require_exponent(p: float) -> None:
    """Refuse an exponent that gives no norm."""
    require(1 <= p < math.inf, f"an Lp similarity needs a finite exponent p ≥ 1, not {p}.")
