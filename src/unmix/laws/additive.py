"""Laws that add independent noise to a centre, and what becomes of them on each space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.laws.door import require_inside
from unmix.laws.projected import projected_log_prob
from unmix.spaces import Box, Space, Sphere

REDRAWS = 8


class AdditiveLaw(ABC):
    """Centre plus independent noise with density ∝ exp(−|x/spread|^power) a coordinate, and no other form.

    On R^d that is all. On a box each coordinate is truncated to the box. On a sphere the sum is
    projected to the sphere, and its density is a radial integral (`projected_log_prob`).
    As in the experiments of Zimmermann et al. 2021.
    """

    @property
    @abstractmethod
    def power(self) -> float:
        """p of the density exp(−|x/spread|^p)."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """The scale of the density exp(−|x/spread|^p)."""

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of one coordinate, spread · √(Γ(3/p) / Γ(1/p))."""
        return self.spread * math.exp((math.lgamma(3 / self.power) - math.lgamma(1 / self.power)) / 2)

    @abstractmethod
    def noise(self) -> torch.distributions.Distribution:
        """The noise of one coordinate, in float64."""

    @abstractmethod
    def draw(self, shape: torch.Size, generator: torch.Generator | None, dtype: torch.dtype) -> Tensor:
        """Noise of the given shape."""

    def check(self, space: Space) -> None:  # noqa: B027
        """Additive laws are defined on every space."""

    def sample(
        self, space: Space, centre: Float[Tensor, "n d"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "n d"]:
        """One draw around each row of `centre`."""
        require_inside(space, centre, "the centre")
        if isinstance(space, Box):
            return _truncated(self, space, centre, generator)
        z = centre + self.draw(centre.shape, generator, centre.dtype)
        return space.project(z) if isinstance(space, Sphere) else z

    def log_prob(self, space: Space, z: Float[Tensor, "n d"], centre: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """Log-density of each row, in the space's own volume (on a sphere: its surface)."""
        require_inside(space, centre, "the centre")
        noise = self.noise()
        wide, around = z.double(), centre.double()
        if isinstance(space, Sphere):
            require_inside(space, z, "the point")
            return projected_log_prob(noise, self.power, self.spread, space, wide, around).to(z.dtype)
        log_density = noise.log_prob(wide - around)
        if isinstance(space, Box):
            mass = noise.cdf(space.high - around) - noise.cdf(space.low - around)
            inside = (wide >= space.low) & (wide <= space.high)
            log_density = torch.where(inside, log_density - mass.log(), -math.inf)
        return log_density.sum(-1).to(z.dtype)


def _truncated(law: AdditiveLaw, box: Box, centre: Tensor, generator: torch.Generator | None) -> Tensor:
    """Redraw only the coordinates that fell outside; what is left after a few rounds by inverse CDF.

    Both steps draw from the same truncated law, so their mixture is exact, and the time is bounded
    for any scale.
    """
    z = centre + law.draw(centre.shape, generator, centre.dtype)
    for _ in range(REDRAWS):
        missing = ((z < box.low) | (z > box.high)).nonzero(as_tuple=True)
        if missing[0].numel() == 0:
            return z
        around = centre[missing]
        z[missing] = around + law.draw(around.shape, generator, centre.dtype)
    missing = ((z < box.low) | (z > box.high)).nonzero(as_tuple=True)
    around, noise = centre[missing].double(), law.noise()
    low, high = noise.cdf(box.low - around), noise.cdf(box.high - around)
    u = low + (high - low) * torch.rand(around.shape, generator=generator, dtype=torch.float64)
    z[missing] = (around + noise.icdf(u)).to(z.dtype)
    return z.clamp(box.low, box.high)


def require_scale(law: Any) -> None:
    """Refuse a scale that is not positive and finite."""
    require(
        0 < law.scale < math.inf,
        f"a {type(law).__name__} law needs a positive, finite scale, not {law.scale}.",
    )
