"""Where rows enter the network."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from unmix.encoders import Whitening
from unmix.errors import InputError, require


class Entry(nn.Module):
    """Rows of any precision to single precision; whitened in double before, so that an offset costs no digits."""

    def __init__(self, x: Tensor | None) -> None:
        super().__init__()
        self.whitening = None if x is None else Whitening(x.double())

    def forward(self, x: Tensor) -> Tensor:
        return x.float() if self.whitening is None else self.whitening(x.double()).float()


def outputs_of(module: nn.Module, x: Tensor, device: Any) -> int:
    """How many outputs a module has, by trying it on two rows."""
    trial = copy.deepcopy(module).to(device).eval()
    try:
        with torch.no_grad():
            out: Any = trial(x.to(device))
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InputError(f"the encoder cannot take rows of shape {tuple(x.shape[1:])}: {said}.") from error
    two = isinstance(out, Tensor) and out.ndim == 2 and len(out) == len(x)
    shape = tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
    require(two, f"the encoder must give a table, a row for each row, not {shape}: end it with nn.Flatten().")
    return int(out.shape[1])
