"""Tensors as numpy takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from numpy import ndarray

from unmix.errors import InputError

EXACT = torch.float32, torch.float64


def array_of(tensor: torch.Tensor, name: str) -> Shaped[ndarray, ...]:
    """The numbers of a tensor of any kind, wherever it is: widened where numpy has no such numbers, sparse ones filled.

    Examples
    --------
    >>> array_of(torch.tensor([1.5, 2.0], dtype=torch.bfloat16), "a")
    array([1.5, 2. ], dtype=float32)
    """
    try:
        plain = tensor.detach().cpu()
        plain = plain.dequantize() if plain.is_quantized else plain
        plain = plain if plain.layout == torch.strided else plain.to_dense()
        if plain.is_floating_point() and plain.dtype not in EXACT:
            plain = plain.float()
        return np.asarray(plain.resolve_conj().resolve_neg().numpy())
    except Exception as error:  # nested, on no device, packed: torch has a different one for each
        raise InputError(
            f"{name} is a tensor that has no plain numbers ({_told(tensor)}): give tensor.float().to_dense(), or an "
            "array."
        ) from error


def _told(tensor: Any) -> str:
    return f"{tensor.dtype}, {tensor.layout}, {tensor.device}"
