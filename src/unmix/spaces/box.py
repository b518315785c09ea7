"""The box [low, high]^d."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.spaces.dimension import require_dimension


@dataclass(frozen=True)
class Box:
    """[low, high]^d, a convex body.

    Examples
    --------
    >>> Box(10).log_volume
    0.0
    """

    dimension: int
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        require(
            isinstance(self.dimension, int) and self.dimension >= 1,
            f"a box needs dimension 1 or more, not {self.dimension}.",
        )
        require_dimension(self.dimension)
        require(
            -math.inf < self.low < self.high < math.inf,
            f"a box needs finite low < high, not low = {self.low}, high = {self.high}.",
        )

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def origin(self) -> Float[Tensor, " d"]:
        """Where a marginal law is centred: zero, or the corner nearest to it (official code of the papers)."""
        return torch.zeros(self.dimension, dtype=torch.float64).clamp(self.low, self.high)

    @property
    def log_volume(self) -> float:
        return self.dimension * math.log(self.width)

    def uniform(
        self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        """n independent uniform points."""
        return self.low + self.width * torch.rand(n, self.dimension, generator=generator, dtype=dtype)

    def contains(self, z: Float[Tensor, "n d"], tolerance: float = 0.0) -> bool:
        return bool(((z >= self.low - tolerance) & (z <= self.high + tolerance)).all())

    def __str__(self) -> str:
        return f"box [{self.low:g}, {self.high:g}]^{self.dimension}"
