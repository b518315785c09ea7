"""A smooth mixing."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unmix.errors import require
from unmix.mixings.conditioning import best_conditioned
from unmix.mixings.layered import LayeredMap


@dataclass(frozen=True)
class Smooth:
    """Like the papers' MLP, but infinitely differentiable: φ(u) = asinh(s u)/s, with inverse sinh(s y)/s.

    `bend` is s: near 0 the mixing is linear, at 3 it compresses large values strongly.

    Examples
    --------
    >>> g = Smooth(layers=2, pool=10).draw(3, torch.Generator().manual_seed(0))
    >>> z = torch.ones(1, 3, dtype=torch.float64)
    >>> bool(torch.allclose(g.inverse(g(z)), z))
    True
    """

    layers: int = 3
    bend: float = 3.0
    pool: int = 25_000

    def __post_init__(self) -> None:
        require(self.layers >= 1, f"a mixing needs at least one layer, not {self.layers}.")
        require(0 < self.bend < float("inf"), f"the bend must be positive and finite, not {self.bend}.")

    def draw(self, dimension: int, generator: torch.Generator) -> LayeredMap:
        return LayeredMap(best_conditioned(dimension, self.layers, self.pool, generator), _Asinh(self.bend))

    def __str__(self) -> str:
        return f"{self.layers}-layer smooth MLP"


@dataclass(frozen=True)
class _Asinh:
    bend: float

    def __call__(self, u: Tensor) -> Tensor:
        return torch.asinh(self.bend * u) / self.bend

    def inverse(self, y: Tensor) -> Tensor:
        return torch.sinh(self.bend * y) / self.bend

    def derivative(self, u: Tensor) -> Tensor:
        return (1 + (self.bend * u).square()).rsqrt()
