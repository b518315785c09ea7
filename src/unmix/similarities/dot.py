"""The dot product."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Dot:
    """s(a, b) = aᵀb.

    Examples
    --------
    >>> import torch
    >>> Dot().rows(torch.ones(1, 3), torch.ones(1, 3)).item()
    3.0
    """

    @property
    def degree(self) -> float:
        return 2.0

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """The similarity of each row of a to the same row of b."""
        return (a * b).sum(-1)

    def matrix(self, a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
        """The similarity of each row of a to each row of b."""
        return a @ b.mT

    def __str__(self) -> str:
        return "dot product"
