"""Which optimiser moves the weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from unmix.errors import require
from unmix.model import Network
from unmix.training.soap import Soap


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma & Ba 2015), as the papers use it.

    Examples
    --------
    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> type(Adam().build([weight], 1e-3)).__name__
    'Adam'
    """

    def build(self, weights: list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        return torch.optim.Adam(weights, lr=rate, fused=True)


@dataclass(frozen=True)
class SOAP:
    """Adam in the eigenbasis of Shampoo's preconditioner (Vyas et al. 2024; see `unmix.training.soap`).

    The inverse of a mixing is badly conditioned: some directions of a weight matrix move the loss thousands of times
    as much as others, and they do not lie along its entries. On the small matrices of these encoders a basis in which
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

    def build(self, weights: list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        return Soap(weights, rate, every=self.every)


def optimiser_of(network: Network, rate: float, optimiser: Adam | SOAP) -> torch.optim.Optimizer:
    """The optimiser of all that a network learns."""
    return optimiser.build([p for p in network.parameters() if p.requires_grad], rate)
