"""What an objective must be able to do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import nn


@runtime_checkable
class Objective(Protocol):
    """A description of a loss; `build` makes the module that computes it.

    The module is called with (encode, x, x_view, truth) and returns a scalar. `truth` is None unless
    `sees_truth` is set, so that an objective cannot peek.
    """

    @property
    def sees_truth(self) -> bool: ...

    def check(self, batch: int, outputs: int, latents: int) -> None:
        """Raise `InputError` if it cannot train with so many rows a step, outputs of the model and latents."""

    def build(self) -> nn.Module: ...
