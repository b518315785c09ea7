"""The von Mises-Fisher law, one mean a row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.laws.bessel import log_bessel
from unmix.laws.door import require_inside
from unmix.spaces import Space, Sphere

LARGEST = 1e9  # beyond it float32 cannot tell a draw from its mean


@dataclass(frozen=True)
class VonMisesFisher:
    """p(z | c) ∝ exp(κ cᵀz) on the unit sphere; on a sphere of radius r, the law of the directions.

    κ = 0 is the uniform law. Sampling: Wood's rejection for the cosine w = cᵀz (Wood 1994, Ulrich 1984),
    written in 1 − w so that nothing cancels at large κ, and a uniform direction orthogonal to c.

    Examples
    --------
    >>> sphere = Sphere(10)
    >>> c = sphere.uniform(4, torch.Generator().manual_seed(0))
    >>> z = VonMisesFisher(10.0).sample(sphere, c, torch.Generator().manual_seed(1))
    >>> sphere.contains(z), VonMisesFisher(10.0).log_prob(sphere, z, c).shape
    (True, torch.Size([4]))
    """

    concentration: float

    def __post_init__(self) -> None:
        require(
            0 <= self.concentration <= LARGEST,
            f"a von Mises-Fisher law needs a concentration κ ≥ 0, at most {LARGEST:g}, not {self.concentration}.",
        )

    def check(self, space: Space) -> None:
        require(
            isinstance(space, Sphere),
            f"the von Mises-Fisher law is not defined on {space}: take a sphere or another law.",
        )

    def sample(
        self, space: Space, centre: Float[Tensor, "n d"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "n d"]:
        """One draw around each row of `centre`."""
        self.check(space)
        assert isinstance(space, Sphere)
        require_inside(space, centre, "the centre")
        n, d = centre.shape
        mean = centre / space.radius
        gap = one_minus_cosine(self.concentration, d, n, generator)
        across = (gap * (2 - gap)).sqrt().to(centre.dtype)[:, None]  # √(1 − w²)
        tangent = across * unit_tangent(mean, generator)
        z = tangent.addcmul_((1 - gap).to(centre.dtype)[:, None], mean)
        return z if space.radius == 1 else space.radius * z

    def log_prob(self, space: Space, z: Float[Tensor, "n d"], centre: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """κ cᵀz/r² + ν log κ − (d/2) log 2π − log I_ν(κ) − (d−1) log r, with ν = d/2 − 1."""
        self.check(space)
        assert isinstance(space, Sphere)
        require_inside(space, z, "the point")
        require_inside(space, centre, "the centre")
        kappa, d = self.concentration, space.dimension
        if kappa == 0:
            return torch.full_like(z[..., 0], -space.log_volume)
        order = d / 2 - 1
        constant = order * math.log(kappa) - d / 2 * math.log(2 * math.pi) - log_bessel(order, kappa)
        # From the distance, where rounding of z and centre does not grow with κ.
        cosine = 1 - (z.double() - centre.double()).square().sum(-1) / (2 * space.radius**2)
        return (kappa * cosine + constant - (d - 1) * math.log(space.radius)).to(z.dtype)

    def __str__(self) -> str:
        return f"vMF(κ={self.concentration:g})"


def unit_tangent(mean: Float[Tensor, "n d"], generator: torch.Generator | None = None) -> Float[Tensor, "n d"]:
    """A uniform unit vector orthogonal to each row of `mean`."""
    tangent = torch.randn(mean.shape, generator=generator, dtype=mean.dtype)
    # Twice: where the draw happens to lie along the mean, one subtraction leaves rounding error.
    for _ in range(2):
        tangent.addcmul_(torch.linalg.vecdot(tangent, mean)[:, None], mean, value=-1)
    length = tangent.norm(dim=-1, keepdim=True)
    lost = (length == 0).squeeze(-1)
    if lost.any():  # a draw exactly along the mean, about once in ten million on a circle
        tangent[lost], length[lost] = unit_tangent(mean[lost], generator), 1.0
    return tangent / length


def one_minus_cosine(
    kappa: float, dimension: int, n: int, generator: torch.Generator | None = None
) -> Float[Tensor, " n"]:
    """n draws of 1 − w, w the cosine to the mean, in float64.

    The proposal needs ε ~ Beta(m/2, m/2), m = d − 1: exactly (1 + √(1 − U^{2/(d−2)}) cos 2πV)/2 for
    uniform U, V (Ulrich 1984), which for d = 2 is (1 + cos 2πV)/2.
    """
    m = dimension - 1
    b = m / (math.hypot(2 * kappa, m) + 2 * kappa)
    gaps = torch.empty(n, dtype=torch.float64)
    missing = torch.arange(n)
    while len(missing):
        u, v, accept = torch.rand(3, len(missing), generator=generator, dtype=torch.float64)
        radial = (1 - u.pow(2 / (dimension - 2))).sqrt() if dimension > 2 else 1.0
        beta = (1 + radial * torch.cos(2 * math.pi * v)) / 2
        gap = 2 * b * beta / (1 - (1 - b) * beta)
        # κ w + m log(1 − x0 w) against its value at w = x0 = (1 − b)/(1 + b), in terms of the gap.
        log_ratio = kappa * (2 * b / (1 + b) - gap) + m * torch.log((2 * b + (1 - b) * gap) * (1 + b) / (4 * b))
        kept = log_ratio >= accept.log()
        gaps[missing[kept]] = gap[kept]
        missing = missing[~kept]
    return gaps
