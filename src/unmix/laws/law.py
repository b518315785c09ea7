"""What a law must be able to do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.spaces import Space


@runtime_checkable
class Law(Protocol):
    """A law around a centre, on the spaces where it is defined; a frozen dataclass of plain numbers."""

    def check(self, space: Space) -> None:
        """Raise `InputError` if the law is not defined on the space."""

    def sample(
        self, space: Space, centre: Float[Tensor, "n d"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "n d"]:
        """One draw around each row of `centre`, in its dtype."""
        ...

    def log_prob(self, space: Space, z: Float[Tensor, "n d"], centre: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """Log-density of each row, in the space's own volume."""
        ...
