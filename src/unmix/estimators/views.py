"""How a row is seen another time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from unmix.errors import require


class View(Protocol):
    """A function that makes another view of each row, drawing from the generator alone."""

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor: ...


@dataclass(frozen=True)
class Jitter:
    """Normal noise on every column, of `share` of the column's spread in the batch.

    Examples
    --------
    >>> x = torch.tensor([[0.0, 5.0], [2.0, 5.0]])
    >>> (Jitter(0.1)(x, torch.Generator().manual_seed(0)) - x).abs().max(0).values > 0
    tensor([ True, False])
    """

    share: float = 0.1

    def __post_init__(self) -> None:
        require(0 < self.share < math.inf, f"the noise must be a positive share of the spread, not {self.share}.")

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        noise = torch.randn(x.shape, generator=generator, dtype=x.dtype)
        return x + self.share * x.std(0, correction=0) * noise
