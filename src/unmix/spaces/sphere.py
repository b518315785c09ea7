"""The sphere of radius r in d dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.spaces.dimension import require_dimension


@dataclass(frozen=True)
class Sphere:
    """{z in R^d : ‖z‖ = r}.

    Examples
    --------
    >>> round(math.exp(Sphere(3).log_volume), 4)  # 4π
    12.5664
    """

    dimension: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        require(
            isinstance(self.dimension, int) and self.dimension >= 2,
            f"a sphere needs dimension 2 or more, not {self.dimension}.",
        )
        require_dimension(self.dimension)
        require(0 < self.radius < math.inf, f"a sphere needs a positive, finite radius, not {self.radius}.")

    @property
    def origin(self) -> Float[Tensor, " d"]:
        """Where a marginal law is centred: the first axis (Zimmermann et al. 2021, official code)."""
        e = torch.zeros(self.dimension, dtype=torch.float64)
        e[0] = self.radius
        return e

    @property
    def log_volume(self) -> float:
        """Log of the surface area, 2 π^{d/2} r^{d-1} / Γ(d/2)."""
        d = self.dimension
        return math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2) + (d - 1) * math.log(self.radius)

    def uniform(
        self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        """n independent uniform points."""
        return self.project(torch.randn(n, self.dimension, generator=generator, dtype=dtype))

    def project(self, y: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """The nearest point of the sphere."""
        return y * (self.radius / y.norm(dim=-1, keepdim=True))

    def contains(self, z: Float[Tensor, "n d"], tolerance: float = 1e-5) -> bool:
        return bool(((z.norm(dim=-1) - self.radius).abs() <= tolerance * self.radius).all())

    def __str__(self) -> str:
        radius = "" if self.radius == 1 else f" of radius {self.radius:g}"
        return f"sphere{radius} in {self.dimension} dimensions"
