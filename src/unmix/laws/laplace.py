"""The Laplace law."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unmix.laws.additive import AdditiveLaw, require_scale


@dataclass(frozen=True)
class Laplace(AdditiveLaw):
    """Independent coordinates with density ∝ exp(−|z − c|/λ), adapted to the space (see `AdditiveLaw`).

    Examples
    --------
    >>> from unmix.spaces import Euclidean
    >>> z = torch.zeros(1, 1)
    >>> round(Laplace(0.5).log_prob(Euclidean(1), z, z).exp().item(), 4)  # 1/2λ
    1.0
    """

    scale: float

    def __post_init__(self) -> None:
        require_scale(self)

    @property
    def power(self) -> float:
        return 1.0

    @property
    def spread(self) -> float:
        return self.scale

    def noise(self) -> torch.distributions.Distribution:
        scale = torch.tensor(self.scale, dtype=torch.float64)
        return torch.distributions.Laplace(torch.zeros_like(scale), scale)

    def draw(self, shape: torch.Size, generator: torch.Generator | None, dtype: torch.dtype) -> Tensor:
        u = 2 * torch.rand(shape, generator=generator, dtype=dtype) - 1
        return -self.scale * u.sign() * torch.log1p(-u.abs().clamp(max=1 - torch.finfo(dtype).eps / 2))

    def __str__(self) -> str:
        return f"Laplace({self.scale:g})"
