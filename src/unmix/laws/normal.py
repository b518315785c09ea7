"""The normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from unmix.laws.additive import AdditiveLaw, require_scale


@dataclass(frozen=True)
class Normal(AdditiveLaw):
    """Independent coordinates with density ∝ exp(−(z − c)²/2σ²), adapted to the space (see `AdditiveLaw`).

    Examples
    --------
    >>> from unmix.spaces import Euclidean
    >>> z = torch.zeros(1, 1)
    >>> round(Normal(1.0).log_prob(Euclidean(1), z, z).item(), 4)  # −log √(2π)
    -0.9189
    """

    scale: float

    def __post_init__(self) -> None:
        require_scale(self)

    @property
    def power(self) -> float:
        return 2.0

    @property
    def spread(self) -> float:
        return self.scale * math.sqrt(2)

    def noise(self) -> torch.distributions.Distribution:
        scale = torch.tensor(self.scale, dtype=torch.float64)
        return torch.distributions.Normal(torch.zeros_like(scale), scale)

    def draw(self, shape: torch.Size, generator: torch.Generator | None, dtype: torch.dtype) -> Tensor:
        return self.scale * torch.randn(shape, generator=generator, dtype=dtype)

    def __str__(self) -> str:
        return f"Normal({self.scale:g})"
