"""The contrastive process: a latent, a second latent near it, and observations of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require, require_kind
from unmix.laws import Law
from unmix.mixings import LayeredMap, Mixing
from unmix.randomness import stream
from unmix.spaces import Space


class Pairs(NamedTuple):
    """A batch of positive pairs: latents z and z̃, observations x = g(z) and x̃ = g(z̃), each (n, d)."""

    z: Tensor
    z_view: Tensor
    x: Tensor
    x_view: Tensor


@dataclass(frozen=True)
class PairProcess:
    """z ~ marginal, z̃ ~ conditional(· | z), x = g(z), x̃ = g(z̃) (Zimmermann et al. 2021).

    The process is one world: `seed` fixes the mixing g, and `with_seed` gives another world of the same
    kind. A non-uniform marginal is centred at `space.origin`.

    Examples
    --------
    >>> import unmix as um
    >>> process = um.PairProcess(um.Sphere(4), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(pool=100))
    >>> pairs = process.sample(8, torch.Generator().manual_seed(0))
    >>> pairs.x_view.shape
    torch.Size([8, 4])
    >>> bool(torch.allclose(process.invert(pairs.x), pairs.z, atol=1e-4))
    True
    """

    space: Space
    marginal: Law
    conditional: Law
    mixing: Mixing
    seed: int = 0

    def __post_init__(self) -> None:
        require_kind(self.space, Space, "space", "um.Sphere(10)")
        require_kind(self.marginal, Law, "marginal", "um.Uniform()")
        require_kind(self.conditional, Law, "conditional", "um.VonMisesFisher(10.0)")
        require_kind(self.mixing, Mixing, "mixing", "um.mixings.MLP(layers=3)")
        self.marginal.check(self.space)
        self.conditional.check(self.space)
        stream(self.seed, "mixing")  # refuses a bad seed here rather than at the first sample

    def with_seed(self, seed: int) -> PairProcess:
        return replace(self, seed=seed)

    @property
    def dimension(self) -> int:
        return self.space.dimension

    @cached_property
    def mixing_map(self) -> LayeredMap:
        return self.mixing.draw(self.dimension, stream(self.seed, "mixing"))

    def sample_latents(
        self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        """n draws of z from the marginal."""
        require(isinstance(n, int) and n >= 1, f"n must be a whole number of at least 1, not {n!r}.")
        centre = self.space.origin.to(dtype).expand(n, self.dimension)
        return self.marginal.sample(self.space, centre, generator)

    def sample(self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32) -> Pairs:
        """n positive pairs."""
        z = self.sample_latents(n, generator, dtype)
        z_view = self.conditional.sample(self.space, z, generator)
        x, x_view = self.observe(torch.cat([z, z_view])).split(n)
        return Pairs(z, z_view, x, x_view)

    def observe(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """x = g(z)."""
        return self.mixing_map(z)

    def invert(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """z = g⁻¹(x); `mixing_map` has the Jacobian too."""
        return self.mixing_map.inverse(x)

    def __str__(self) -> str:
        return f"{self.space}: z ~ {self.marginal}, z̃|z ~ {self.conditional}, {self.mixing}"
