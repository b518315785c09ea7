"""No mixing."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from unmix.mixings.layered import LayeredMap
from unmix.mixings.mlp import LeakyReLU


@dataclass(frozen=True)
class Identity:
    """x = z: the latents are observed as they are.

    Examples
    --------
    >>> Identity().draw(2, torch.Generator())(torch.ones(1, 2)).tolist()
    [[1.0, 1.0]]
    """

    def draw(self, dimension: int, generator: torch.Generator) -> LayeredMap:
        return LayeredMap((torch.eye(dimension, dtype=torch.float64),), LeakyReLU(1.0))  # one layer never bends

    def __str__(self) -> str:
        return "no mixing"
