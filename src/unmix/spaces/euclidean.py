"""All of R^d."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import InputError, require
from unmix.spaces.dimension import require_dimension


@dataclass(frozen=True)
class Euclidean:
    """R^d. It has no uniform law.

    Examples
    --------
    >>> Euclidean(3).origin.tolist()
    [0.0, 0.0, 0.0]
    """

    dimension: int

    def __post_init__(self) -> None:
        require(
            isinstance(self.dimension, int) and self.dimension >= 1,
            f"a Euclidean space needs dimension 1 or more, not {self.dimension}.",
        )
        require_dimension(self.dimension)

    @property
    def origin(self) -> Float[Tensor, " d"]:
        return torch.zeros(self.dimension, dtype=torch.float64)

    @property
    def log_volume(self) -> float:
        return math.inf

    def uniform(
        self, n: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        raise InputError("there is no uniform law on an unbounded space: take a box, a sphere or another law.")

    def contains(self, z: Float[Tensor, "n d"], tolerance: float = 0.0) -> bool:
        return bool(z.isfinite().all())

    def __str__(self) -> str:
        return f"R^{self.dimension}"
