"""Additive laws whose noise is cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from unmix.errors import InputError, require, require_kind
from unmix.laws.additive import AdditiveLaw
from unmix.laws.door import require_inside
from unmix.spaces import Euclidean, Space, Sphere


@dataclass(frozen=True)
class Truncated:
    """An additive law whose noise is kept to [−support, support] in each coordinate; on a sphere, before projection.

    Reizinger et al. 2025 vary the support of a Laplace conditional.

    Examples
    --------
    >>> from unmix.laws import Laplace
    >>> from unmix.spaces import Euclidean
    >>> z = Truncated(Laplace(1.0), 0.5).sample(Euclidean(2), torch.zeros(1000, 2))
    >>> bool(z.abs().max() <= 0.5)
    True
    """

    law: AdditiveLaw
    support: float

    def __post_init__(self) -> None:
        require_kind(self.law, AdditiveLaw, "law", "um.Laplace(1.0)")
        number = isinstance(self.support, (int, float)) and 0 < self.support < math.inf
        require(number, f"the support must be positive and finite, not {self.support!r}.")
        low, high = self._ends()
        require(bool(high > low), f"a support of ±{self.support:g} is too narrow for {self.law}: take a wider one.")

    def check(self, space: Space) -> None:
        """It is defined on a sphere and on R^d; a box cuts noise off by itself."""
        require(
            isinstance(space, (Euclidean, Sphere)),
            f"a truncated law is not defined on {space}: there {self.law} is cut off at the border already.",
        )

    def sample(
        self, space: Space, centre: Float[Tensor, "n d"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "n d"]:
        """One draw around each row of `centre`, by the inverse of the noise's distribution function."""
        self.check(space)
        require_inside(space, centre, "the centre")
        noise = self.law.noise()
        low, high = self._ends()
        u = low + (high - low) * torch.rand(centre.shape, generator=generator, dtype=torch.float64)
        z = centre + noise.icdf(u).clamp(-self.support, self.support).to(centre.dtype)
        return space.project(z) if isinstance(space, Sphere) else z

    def log_prob(self, space: Space, z: Float[Tensor, "n d"], centre: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """Log-density of each row on R^d; on a sphere it is not available."""
        self.check(space)
        if isinstance(space, Sphere):
            raise InputError("the density of a truncated law on a sphere is not available: take it on um.Euclidean.")
        noise, off = self.law.noise(), z.double() - centre.double()
        low, high = self._ends()
        inside = off.abs() <= self.support
        return torch.where(inside, noise.log_prob(off) - (high - low).log(), -math.inf).sum(-1).to(z.dtype)

    def _ends(self) -> Float64[Tensor, 2]:
        """The noise's distribution function at the two ends of the support."""
        return self.law.noise().cdf(torch.tensor([-self.support, self.support], dtype=torch.float64))

    def __str__(self) -> str:
        return f"{self.law} within ±{self.support:g}"
