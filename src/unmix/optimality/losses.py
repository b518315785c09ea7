"""A loss on fresh batches, with its standard error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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


def best_scale(expected: Callable[[float], float]) -> float:
    """The scale of the logits where a loss is least; a cross-entropy is convex in it, so there is one minimum.

    `expected` is the loss that is expected by the Bayes posterior, not that of the draws: where hardly a draw is
    confused, draws do not tell how large the scale should be.

    Examples
    --------
    >>> round(best_scale(lambda scale: (scale - 3.0) ** 2), 3)
    3.0
    """
    found = minimize_scalar(lambda log_scale: expected(math.exp(log_scale)), bounds=LOG_SCALES, method="bounded")
    return math.exp(found.x)
