"""A fully connected encoder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from unmix.errors import require


@dataclass(frozen=True)
class MLP:
    """Linear layers with LeakyReLU between them, beside a linear map that starts as a rotation (`skip`).

    The default is small on purpose: the inverse of a LeakyReLU(0.2) mixing is itself a small LeakyReLU
    network of slope 1/0.2, and small networks at a high rate learn it fastest. With `skip` the network
    starts as a rotation of its input and so unfolded: a plain network starts near a constant, and on a
    low-dimensional sphere a map that starts near a constant has the wrong degree and mostly ends folded.
    `batch_norm` normalises the input of each LeakyReLU over the batch, as Reizinger et al. 2025 do.

    Examples
    --------
    >>> net = MLP((64, 64)).build(10, 10, torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in net.parameters())
    5614
    """

    widths: tuple[int, ...] = (64, 64, 64, 64)
    slope: float = 0.2
    skip: bool = True
    batch_norm: bool = False

    def __post_init__(self) -> None:
        require(not isinstance(self.widths, int), f"widths is one number a hidden layer: write ({self.widths},).")
        object.__setattr__(self, "widths", tuple(self.widths))
        whole = all(isinstance(w, int) and w >= 1 for w in self.widths)
        require(whole, f"every hidden width must be an int of at least 1, not {self.widths}.")
        require(0 <= self.slope < math.inf, f"the slope must be at least 0 and finite, not {self.slope}.")

    @classmethod
    def paper(cls, dimension: int, batch_norm: bool = False) -> MLP:
        """The encoder of Zimmermann et al. 2021, d → 10d → 50d ×4 → 10d → d, slope 0.01, no skip; with batch norm that
        of Reizinger et al. 2025."""
        d = dimension
        return cls((10 * d, 50 * d, 50 * d, 50 * d, 50 * d, 10 * d), 0.01, skip=False, batch_norm=batch_norm)

    def build(self, inputs: int, outputs: int, generator: torch.Generator) -> nn.Module:
        """The network, with torch's default initialisation drawn from `generator`."""
        layers: list[nn.Module] = []
        for fan_in, fan_out in pairwise((inputs, *self.widths, outputs)):
            linear = nn.utils.skip_init(nn.Linear, fan_in, fan_out)
            with torch.no_grad():
                for parameter in (linear.weight, linear.bias):
                    parameter.uniform_(-(fan_in**-0.5), fan_in**-0.5, generator=generator)
            norm = [nn.BatchNorm1d(fan_out)] if self.batch_norm else []
            layers += [linear, *norm, nn.LeakyReLU(self.slope, inplace=True)]
        bent = nn.Sequential(*layers[: -2 if self.batch_norm else -1])
        return _BesideRotation(bent, inputs, outputs, generator) if self.skip else bent

    def __str__(self) -> str:
        return "MLP " + "-".join(map(str, self.widths))


class _BesideRotation(nn.Module):
    """x → R x + bent(x), starting at R x with R a random rotation (or part of one, between other widths)."""

    def __init__(self, bent: nn.Sequential, inputs: int, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        size = max(inputs, outputs)
        rotation = torch.linalg.qr(torch.randn(size, size, generator=generator)).Q
        self.rotation = nn.Parameter(rotation[:outputs, :inputs].contiguous())
        self.bent = bent
        for parameter in bent[-1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bent(x), x, self.rotation.mT)
