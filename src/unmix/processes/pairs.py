"""The contrastive process: a latent, a second latent near it, and observations of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require_kind
from unmix.laws import Law
from unmix.mixings import Mixing
from unmix.processes.process import Process, require_count
from unmix.spaces import Space


class Pairs(NamedTuple):
    """A batch of positive pairs: latents z and z̃, observations x = g(z) and x̃ = g(z̃), each (n, d)."""

    z: Tensor
    z_view: Tensor
    x: Tensor
    x_view: Tensor


@dataclass(frozen=True)
class PairProcess(Process):
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
    gives: ClassVar[tuple[str, ...]] = Pairs._fields

    def __post_init__(self) -> None:
        self.check()
        require_kind(self.marginal, Law, "marginal", "um.Uniform()")
        require_kind(self.conditional, Law, "conditional", "um.VonMisesFisher(10.0)")
        self.marginal.check(self.space)
        self.conditional.check(self.space)

    def sample_latents(
        self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        """n draws of z from the marginal."""
        require_count(n)
        centre = self.space.origin.to(dtype).expand(n, self.dimension)
        return self.marginal.sample(self.space, centre, generator)

    def sample(self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32) -> Pairs:
        """n positive pairs."""
        z = self.sample_latents(n, generator, dtype)
        z_view = self.conditional.sample(self.space, z, generator)
        x, x_view = self.observe(torch.cat([z, z_view])).split(n)
        return Pairs(z, z_view, x, x_view)

    def __str__(self) -> str:
        return f"{self.space}: z ~ {self.marginal}, z̃|z ~ {self.conditional}, {self.mixing}"
