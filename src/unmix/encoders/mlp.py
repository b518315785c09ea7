"""A fully connected encoder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn

from unmix.errors import require


@dataclass(frozen=True)
class MLP:
    """Linear layers with LeakyReLU between them.

    The default is small on purpose: the inverse of a LeakyReLU(0.2) mixing is itself a small LeakyReLU
    network of slope 1/0.2, and small networks at a high rate learn it fastest.

    Examples
    --------
    >>> net = MLP((64, 64)).build(10, 10, torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in net.parameters())
    5514
    """

    widths: tuple[int, ...] = (64, 64, 64)
    slope: float = 0.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(self.widths))
        require(all(w >= 1 for w in self.widths), f"every hidden width must be at least 1, not {self.widths}.")
        require(0 <= self.slope < math.inf, f"the slope must be at least 0 and finite, not {self.slope}.")

    @classmethod
    def paper(cls, dimension: int) -> MLP:
        """The encoder of Zimmermann et al. 2021: d → 10d → 50d ×4 → 10d → d, slope 0.01."""
        d = dimension
        return cls((10 * d, 50 * d, 50 * d, 50 * d, 50 * d, 10 * d), 0.01)

    def build(self, inputs: int, outputs: int, generator: torch.Generator) -> nn.Sequential:
        """The network, with torch's default initialisation drawn from `generator`."""
        layers: list[nn.Module] = []
        for fan_in, fan_out in pairwise((inputs, *self.widths, outputs)):
            linear = nn.utils.skip_init(nn.Linear, fan_in, fan_out)
            with torch.no_grad():
                for parameter in (linear.weight, linear.bias):
                    parameter.uniform_(-(fan_in**-0.5), fan_in**-0.5, generator=generator)
            layers += [linear, nn.LeakyReLU(self.slope, inplace=True)]
        return nn.Sequential(*layers[:-1])

    def __str__(self) -> str:
        return "MLP " + "-".join(map(str, self.widths))
