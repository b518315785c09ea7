"""A linear mixing."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from unmix.mixings.layered import LayeredMap
from unmix.mixings.mlp import MLP


@dataclass(frozen=True)
class Linear:
    """x = W z, with W the best-conditioned of a pool.

    Examples
    --------
    >>> g = Linear(pool=10).draw(3, torch.Generator().manual_seed(0))
    >>> bool(torch.allclose(g(2 * torch.ones(1, 3)), 2 * g(torch.ones(1, 3))))
    True
    """

    pool: int = 25_000

    def draw(self, dimension: int, generator: torch.Generator) -> LayeredMap:
        return MLP(layers=1, pool=self.pool).draw(dimension, generator)

    def __str__(self) -> str:
        return "linear mixing"
