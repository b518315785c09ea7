"""Supervised regression on the latents: the upper bound that the papers' tables print beside InfoNCE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from unmix.errors import require


@dataclass(frozen=True)
class Regression:
    """Mean squared error of f(x) against the true latents: the one objective that is told the truth.

    Examples
    --------
    >>> Regression().told
    ('x', 'z')
    """

    told: ClassVar[tuple[str, ...]] = ("x", "z")

    def check(self, process: Any, batch: int, outputs: int) -> None:
        require(
            outputs == process.dimension,
            f"regression needs one output a latent: the model has {outputs} outputs for {process.dimension} latents.",
        )

    def build(self, process: Any, outputs: int, generator: torch.Generator) -> nn.Module:
        return _RegressionLoss()

    def __str__(self) -> str:
        return "regression on the true latents"


class _RegressionLoss(nn.Module):
    def forward(self, encode: Callable[[Tensor], Tensor], x: Tensor, z: Tensor) -> Tensor:
        return nn.functional.mse_loss(encode(x), z)
