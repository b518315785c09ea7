"""Tables of numbers from what people hand over."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables import read
from unmix.tables.foreign import is_arrow, is_sparse, known
from unmix.tables.tensor import array_of


def as_matrix(values: Any, name: str) -> Float64[ndarray, "n k"]:
    """A table of finite float64 numbers from a tensor, an array or nested lists."""
    values = known(values, name)
    if is_sparse(values) or is_arrow(values):
        values = read(values, name).values
    try:
        if isinstance(values, torch.Tensor):
            values = array_of(values, name)
        table = np.asarray(values)
        real = not np.iscomplexobj(table) and not np.ma.isMaskedArray(values)
        table = np.asarray(table, np.float64) if real else table
    except InputError:
        raise
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name} must be a table of numbers; convert or leave out what is not a number.") from None
    require(
        real, f"{name} must be a table of real numbers without a mask: fill or leave out what is masked or complex."
    )
    if table.ndim == 1:
        table = table[:, None]
    require(table.ndim == 2, f"{name} must have two axes (rows, columns), not {table.ndim}: reshape it.")
    require(table.size > 0, f"{name} is empty: give at least one row and one column.")
    bad = int(np.count_nonzero(~np.isfinite(table)))
    require(bad == 0, f"{name} is NaN or infinite in {bad} cell{'s' * (bad != 1)}: remove those rows first.")
    return table
