"""What an objective must be able to do."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn


@runtime_checkable
class Objective(Protocol):
    """A description of a loss; `build` makes the module that computes it.

    The module is called with the encoder and with those fields of a batch that `told` names, and no others, so that a
    loss cannot peek at latents or labels that it is not told; it returns a scalar. The process is there for `check` and
    `build` to ask how many labels there are; fixed rows may say so in its place.
    """

    @property
    def told(self) -> tuple[str, ...]: ...

    def check(self, process: Any, batch: int, outputs: int) -> None:
        """Raise `InputError` if it cannot train on the process with so many rows a step and outputs of the model."""

    def build(self, process: Any, outputs: int, generator: torch.Generator) -> nn.Module: ...
