"""Supervised regression on the latents: the upper bound that the papers' tables print beside InfoNCE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unmix.errors import require


@dataclass(frozen=True)
class Regression:
    """Mean squared error of f(x) against the true latents: the one objective that is told the truth.

    Examples
    --------
    >>> Regression().sees_truth
    True
    """

    sees_truth: ClassVar[bool] = True

    def check(self, batch: int, outputs: int, latents: int) -> None:
        require(
            outputs == latents,
            f"regression needs one output a latent: the model has {outputs} outputs for {latents} latents.",
        )

    def build(self) -> nn.Module:
        return _RegressionLoss()

    def __str__(self) -> str:
        return "regression on the true latents"


class _RegressionLoss(nn.Module):
    def forward(self, encode: Callable[[Tensor], Tensor], x: Tensor, x_view: Tensor, truth: Tensor) -> Tensor:
        return nn.functional.mse_loss(encode(x), truth)
