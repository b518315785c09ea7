"""What every process has: latents in a space, and a mixing that observes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import brief, require, require_kind
from unmix.mixings import Mixing
from unmix.mixings.injectivity import BY_CONSTRUCTION, Injectivity, check_injectivity
from unmix.randomness import stream
from unmix.spaces import Space

Kind = TypeVar("Kind", bound="Process")
CHECKED = 1024  # latents at which a mixing of someone else's is looked at


class Process(ABC):
    """One world: a frozen dataclass with a space, a mixing and a seed, which fixes all that is drawn once.

    A subclass writes `sample`, which gives a named tuple of tensors with a row an observation; its fields are `gives`,
    among them the latents `z` and the observations `x`. An objective names the fields that it is told.
    """

    space: Space
    mixing: Mixing
    seed: int
    gives: ClassVar[tuple[str, ...]]

    @abstractmethod
    def sample(self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32) -> Any:
        """n rows: latents, observations and whatever else the process gives."""

    def check(self) -> None:
        """Refuse a space, a mixing or a seed that is none."""
        require_kind(self.space, Space, "space", "um.Sphere(10)")
        require_kind(self.mixing, Mixing, "mixing", "um.mixings.MLP(layers=3)")
        stream(self.seed, "mixing")  # refuses a bad seed here rather than at the first sample

    def with_seed(self: Kind, seed: int) -> Kind:
        """Another world of the same kind."""
        return replace(self, seed=seed)  # type: ignore[type-var]  # every process is a dataclass

    @property
    def dimension(self) -> int:
        return self.space.dimension

    @cached_property
    def mixing_map(self) -> Any:
        """The map that was drawn: a `LayeredMap`, or what a mixing of someone else's draws."""
        return self.mixing.draw(self.dimension, stream(self.seed, "mixing"))

    def observe(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """x = g(z)."""
        x: Tensor = self.mixing_map(z)
        return x

    @cached_property
    def injectivity(self) -> Injectivity:
        """Whether observations tell latents apart: by construction, or by a look at the map that was drawn.

        Examples
        --------
        >>> import unmix as um
        >>> um.SectorProcess().injectivity
        Injectivity(holds=True, seen='by construction')
        """
        ours = type(self).observe is Process.observe
        if ours and type(self.mixing) in BY_CONSTRUCTION:
            return Injectivity(True, "by construction")
        try:
            z = self.sample(CHECKED, stream(self.seed, "injectivity"), torch.float64).z
        except RuntimeError:  # a mixing with weights in float32
            z = self.sample(CHECKED, stream(self.seed, "injectivity")).z
        declared = getattr(self.mixing, "injective", None) if ours else None
        return check_injectivity(self.mixing_map if ours else self.observe, z, self.space, declared)

    def invert(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """z = g⁻¹(x); `mixing_map` has the Jacobian too."""
        z: Tensor = self.mixing_map.inverse(x)
        return z


def require_count(n: int) -> None:
    require(isinstance(n, int) and n >= 1, f"n must be a whole number of at least 1, not {brief(n)}.")
