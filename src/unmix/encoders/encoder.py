"""What an encoder must be able to do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import nn


@runtime_checkable
class Encoder(Protocol):
    """A description of a network's body."""

    def build(self, inputs: int, outputs: int, generator: torch.Generator) -> nn.Module:
        """The module from (n, inputs) to (n, outputs), with weights drawn from `generator`."""
        ...
