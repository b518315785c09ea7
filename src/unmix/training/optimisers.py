"""Which optimiser moves the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from unmix.errors import require
from unmix.model import Network
from unmix.training.schedules import Constant, OneCycle
from unmix.training.soap import Soap


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma & Ba 2015), as the papers use it.

    Examples
    --------
    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> type(Adam().build([{"params": [weight]}], 1e-3)).__name__
    'Adam'
    """

    def build(self, groups: list[dict[str, Any]], rate: float) -> torch.optim.Optimizer:
        return torch.optim.Adam(groups, lr=rate, fused=True)


@dataclass(frozen=True)
class SOAP:
    """Adam in the eigenbasis of Shampoo's preconditioner (Vyas et al. 2024; see `unmix.training.soap`).

    The inverse of a mixing is badly conditioned: some directions of a weight matrix move the loss far more than
    others, and they do not lie along its entries. On the small matrices of these encoders a basis in which
    they do is cheap.

    Parameters
    ----------
    every : steps between updates of the basis.

    Examples
    --------
    >>> SOAP(every=5).every
    5
    """

    every: int = 10

    def __post_init__(self) -> None:
        whole = isinstance(self.every, int) and self.every >= 1
        require(whole, f"the basis is updated every 1 or more steps, not {self.every!r}.")

    def build(self, groups: list[dict[str, Any]], rate: float) -> torch.optim.Optimizer:
        return Soap(groups, rate, every=self.every)


def optimiser_of(
    network: Network, rate: float, optimiser: Adam | SOAP, scale_rate: float = 1.0
) -> torch.optim.Optimizer:
    """The optimiser of all that a network learns; each group of weights has its own `peak` of the rate.

    The scale of the output and the temperature have a share `scale_rate` of the others' rate. The rows of a head are a
    label each: SOAP turns their columns alone, or else rows that must all move far could only do so together.
    """
    learned = [p for p in network.parameters() if p.requires_grad]
    heads = [p for p in network.loss.parameters() if p.requires_grad and p.ndim > 0]
    scales = [p for p in learned if p.ndim == 0]
    taken = {id(p) for p in (*heads, *scales)}
    groups = [
        {"params": [p for p in learned if id(p) not in taken], "peak": rate},
        {"params": heads, "peak": rate, "sides": (1,)},
        {"params": scales, "peak": rate * scale_rate},
    ]
    return optimiser.build([group for group in groups if group["params"]], rate)


def set_rates(optimiser: torch.optim.Optimizer, schedule: OneCycle | Constant, progress: float) -> None:
    """The rate of each group of weights, at a share `progress` in [0, 1] of the run."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * schedule.factor(progress)
