"""Points of the plane, classified by their angle."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from unmix.errors import require
from unmix.laws import Normal
from unmix.mixings import Identity, Mixing
from unmix.processes.process import Process, require_count
from unmix.spaces import Euclidean, Space


class Labelled(NamedTuple):
    """Latents z and observations x, each (n, d), and a class label, (n,)."""

    z: Tensor
    x: Tensor
    label: Tensor


@dataclass(frozen=True)
class SectorProcess(Process):
    """z ~ Normal(scale) in the plane, x = g(z), and a label among K equal sectors of the angle of z.

    With a `sharpness` labels are drawn from p(y|z) ∝ exp(sharpness ⟨z, u_y⟩), u_y the unit vector in the middle
    of sector y: a member of every model class whose encoder can express g⁻¹, so that the theorem of Roeder et al. 2021
    holds exactly. In the limit (None, the default, and their Figure 2) the label is the sector itself, and the
    likelihood has no finite maximum.

    Examples
    --------
    >>> rows = SectorProcess(classes=4).sample(100, torch.Generator().manual_seed(0))
    >>> quadrant = torch.atan2(rows.x[:, 1], rows.x[:, 0]).div(math.pi / 2).floor() % 4
    >>> bool((quadrant == rows.label).all())
    True
    """

    classes: int = 18
    scale: float = 3.0
    sharpness: float | None = None
    mixing: Mixing = field(default_factory=Identity)
    seed: int = 0
    space: Space = field(default_factory=lambda: Euclidean(2), init=False)
    gives: ClassVar[tuple[str, ...]] = Labelled._fields

    def __post_init__(self) -> None:
        self.check()
        Normal(self.scale)  # refuses a bad scale
        whole = isinstance(self.classes, int) and self.classes >= 2
        require(whole, f"there must be at least 2 classes, not {self.classes!r}.")
        sharp = self.sharpness is None or 0 < self.sharpness < math.inf
        require(sharp, f"the sharpness must be positive and finite, or None, not {self.sharpness}.")

    @cached_property
    def directions(self) -> Float64[Tensor, "k 2"]:
        """u_y, the middle of each sector."""
        angle = (torch.arange(self.classes, dtype=torch.float64) + 0.5) * (2 * math.pi / self.classes)
        return torch.stack([angle.cos(), angle.sin()], 1)

    def sample(self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32) -> Labelled:
        """n labelled rows."""
        require_count(n)
        z = Normal(self.scale).draw(torch.Size((n, 2)), generator, dtype)
        along = z.double() @ self.directions.mT
        if self.sharpness is not None:  # the largest of scores with Gumbel noise is a draw from their softmax
            noise = torch.rand(along.shape, generator=generator, dtype=torch.float64)
            along = self.sharpness * along - torch.log(-torch.log(noise))
        return Labelled(z, self.observe(z), along.argmax(1))

    def __str__(self) -> str:
        drawn = "the sector" if self.sharpness is None else f"drawn around the sector, sharpness {self.sharpness:g}"
        return f"plane: z ~ Normal({self.scale:g}), {self.classes} labels by angle ({drawn}), {self.mixing}"
