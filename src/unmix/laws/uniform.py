"""The uniform law of a bounded space."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.laws.door import require_inside
from unmix.spaces import Box, Space


@dataclass(frozen=True)
class Uniform:
    """p(z) = 1/|Z|; as a conditional it forgets its centre.

    Examples
    --------
    >>> from unmix.spaces import Box
    >>> box = Box(2, high=0.5)
    >>> z = Uniform().sample(box, box.origin.expand(3, 2))
    >>> Uniform().log_prob(box, z, z).exp().tolist()
    [4.0, 4.0, 4.0]
    """

    def check(self, space: Space) -> None:
        require(
            space.log_volume < float("inf"),
            f"the uniform law is not defined on {space}: take a box, a sphere or another law.",
        )

    def sample(
        self, space: Space, centre: Float[Tensor, "n d"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "n d"]:
        self.check(space)
        require_inside(space, centre, "the centre")
        return space.uniform(len(centre), generator, centre.dtype)

    def log_prob(self, space: Space, z: Float[Tensor, "n d"], centre: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        self.check(space)
        if isinstance(space, Box):
            inside = ((z >= space.low) & (z <= space.high)).all(-1)
            return torch.where(inside, torch.full_like(z[..., 0], -space.log_volume), -math.inf)
        require_inside(space, z, "the point")
        return torch.full_like(z[..., 0], -space.log_volume)

    def __str__(self) -> str:
        return "Uniform"
