"""Where an encoder's output may lie: the model's side of the latent space."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from unmix.errors import require


@dataclass(frozen=True)
class Sphere:
    """h → r h/‖h‖, with r fixed or learned through its logarithm.

    Examples
    --------
    >>> Sphere(radius=2.0).build()(torch.tensor([[3.0, 4.0]])).norm().item()
    2.0
    """

    radius: float = 1.0
    learnable: bool = False

    def __post_init__(self) -> None:
        require(0 < self.radius < math.inf, f"the output radius must be positive and finite, not {self.radius}.")

    def build(self) -> nn.Module:
        return _Scaled(_of_unit_length, self.radius, self.learnable)

    def __str__(self) -> str:
        return "sphere of learned radius" if self.learnable else f"sphere of radius {self.radius:g}"


@dataclass(frozen=True)
class Box:
    """h → e σ(h), the box [0, e]^d, with e fixed or learned through its logarithm.

    Matched laws at scale 0.05 want e = 14 to 20; a bound that is itself the parameter, moved by Adam at
    1e-4, needs most of the official 300,000 steps to get there. It starts at 2, where the box is still small enough to
    be filled to its corners.

    Examples
    --------
    >>> Box(extent=4.0).build()(torch.zeros(1, 2)).tolist()
    [[2.0, 2.0]]
    """

    extent: float = 2.0
    learnable: bool = True

    def __post_init__(self) -> None:
        require(0 < self.extent < math.inf, f"the output extent must be positive and finite, not {self.extent}.")

    def build(self) -> nn.Module:
        return _Scaled(torch.sigmoid, self.extent, self.learnable)

    def __str__(self) -> str:
        return "box of learned extent" if self.learnable else f"box of extent {self.extent:g}"


@dataclass(frozen=True)
class Free:
    """No constraint.

    Examples
    --------
    >>> Free().build()(torch.tensor([[3.0]])).item()
    3.0
    """

    def build(self) -> nn.Module:
        return nn.Identity()

    def __str__(self) -> str:
        return "unbounded"


@runtime_checkable
class Output(Protocol):
    """A constraint on an encoder's output; `build` makes the module that imposes it."""

    def build(self) -> nn.Module: ...


def _of_unit_length(h: Tensor) -> Tensor:
    return nn.functional.normalize(h, dim=-1)


class _Scaled(nn.Module):
    def __init__(self, shape: Callable[[Tensor], Tensor], scale: float, learnable: bool) -> None:
        super().__init__()
        self.shape = shape
        log_scale = torch.tensor(math.log(scale))
        if learnable:
            self.log_scale = nn.Parameter(log_scale)
        else:
            self.register_buffer("log_scale", log_scale)

    def forward(self, h: Tensor) -> Tensor:
        return self.log_scale.exp() * self.shape(h)
