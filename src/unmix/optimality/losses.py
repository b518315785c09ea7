"""A loss on fresh batches, with its standard error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from scipy.optimize import minimize_scalar
from torch import Tensor

from unmix.measures.digits import number

BATCHES = 32  # independent of each other: their spread is the standard error
LOG_SCALES = (-16.0, 16.0)  # where the best scale is looked for


@dataclass(frozen=True)
class Loss:
    """The mean over independent batches, in nats.

    Attributes
    ----------
    error : its standard error.
    """

    value: float
    error: float

    @classmethod
    def of(cls, batches: Float64[Tensor, " k"]) -> Loss:
        return cls(batches.mean().item(), batches.std().item() / math.sqrt(len(batches)))

    def as_dict(self) -> dict[str, float]:
        return {"value": self.value, "error": self.error}

    def __str__(self) -> str:
        return f"{number(self.value)} ± {number(self.error)}"


@dataclass(frozen=True)
class Losses:
    """Three losses on the same fresh batches, a value each.

    Attributes
    ----------
    attained : of the network.
    floor, at_inverse : the Bayes value, and the loss of the true inverse; or in words why it is not known.
    uninformed : the loss of whoever does not look at the observation, if it is known.
    told : what loss it is, in words.
    """

    attained: Float64[Tensor, " k"]
    floor: Float64[Tensor, " k"] | str
    at_inverse: Float64[Tensor, " k"] | str
    uninformed: float | None
    told: str


def known(losses: Float64[Tensor, " k"]) -> Float64[Tensor, " k"] | str:
    """The losses, if they are numbers: single precision may put a draw just outside the support of its law."""
    finite = bool(losses.isfinite().all())
    return losses if finite else "in single precision some draws lie outside the support of their law"


def at_best_scale(losses: Callable[[float], Float64[Tensor, " k"]]) -> Float64[Tensor, " k"]:
    """The losses at the scale of the logits where their mean is least: for each half of the batches, on the other.

    A cross-entropy is convex in the scale of its logits, so there is one minimum.

    Examples
    --------
    >>> import torch
    >>> at_best_scale(lambda scale: torch.full((4,), (scale - 3.0) ** 2 + 1)).mean().round(decimals=3)
    tensor(1.)
    """
    found = torch.empty_like(losses(1.0))
    for half in (slice(0, None, 2), slice(1, None, 2)):
        other = slice(1 - half.start, None, 2)
        best = minimize_scalar(lambda t, there=other: losses(math.exp(t))[there].mean().item(), bounds=LOG_SCALES)
        found[half] = losses(math.exp(best.x))[half]
    return found
