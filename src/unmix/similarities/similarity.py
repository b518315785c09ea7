"""What a similarity must be able to do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class Similarity(Protocol):
    """s(a, b), homogeneous: s(ca, cb) = c^degree s(a, b) for c > 0."""

    @property
    def degree(self) -> float: ...

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """The similarity of each row of a to the same row of b."""
        ...

    def matrix(self, a: Float[Tensor, "n d"], b: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
        """The similarity of each row of a to each row of b."""
        ...
