"""The papers' mixing: a condition-controlled LeakyReLU network."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unmix.errors import require
from unmix.mixings.conditioning import best_conditioned
from unmix.mixings.layered import LayeredMap


@dataclass(frozen=True)
class MLP:
    """Square bias-free layers with LeakyReLU between them, each the best-conditioned of a pool.

    Zimmermann et al. 2021 use 3 layers, Reizinger et al. 2025 use 4; slope 0.2, pool 25,000.

    Examples
    --------
    >>> g = MLP(layers=2, pool=10).draw(3, torch.Generator().manual_seed(0))
    >>> g(torch.ones(1, 3)).shape
    torch.Size([1, 3])
    """

    layers: int = 3
    slope: float = 0.2
    pool: int = 25_000

    def __post_init__(self) -> None:
        require(self.layers >= 1, f"a mixing needs at least one layer, not {self.layers}.")
        require(0 < self.slope < float("inf"), f"the slope must be positive to be invertible, not {self.slope}.")

    def draw(self, dimension: int, generator: torch.Generator) -> LayeredMap:
        return LayeredMap(best_conditioned(dimension, self.layers, self.pool, generator), LeakyReLU(self.slope))

    def __str__(self) -> str:
        return f"{self.layers}-layer LeakyReLU MLP"


@dataclass(frozen=True)
class LeakyReLU:
    slope: float

    def __call__(self, u: Tensor) -> Tensor:
        return torch.where(u > 0, u, self.slope * u)

    def inverse(self, y: Tensor) -> Tensor:
        return torch.where(y > 0, y, y / self.slope)

    def derivative(self, u: Tensor) -> Tensor:
        return torch.where(u > 0, 1.0, self.slope).to(u.dtype)
