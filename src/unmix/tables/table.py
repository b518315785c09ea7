"""What a table is to the rest of unmix: an array of rows, perhaps memory-mapped, with names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Num, Shaped
from numpy import ndarray

from unmix.errors import require

NUMBERS = "biuf"  # numpy's kinds: booleans, integers and floats


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers, and columns of labels that were asked for by name.

    Attributes
    ----------
    values : (n, k); of a file, memory-mapped.
    columns : their names, or their numbers as text where the source has no names.
    index : of a pandas table, the names of its rows; rows of tables that have one are joined by it.
    """

    name: str
    values: Num[ndarray, "n k"]
    columns: tuple[str, ...] = ()
    labels: Mapping[str, Shaped[ndarray, " n"]] = field(default_factory=dict)
    index: Shaped[ndarray, " n"] | None = None

    def __post_init__(self) -> None:
        if not self.columns:
            object.__setattr__(self, "columns", tuple(map(str, range(self.values.shape[1]))))

    def __len__(self) -> int:
        return len(self.values)


def as_rows(values: Any, name: str) -> Num[ndarray, "n k"]:
    """An array of real numbers with two axes, of whatever numpy takes for one; a single axis is one column."""
    array = values if isinstance(values, ndarray) else np.asarray(values)
    require(not isinstance(values, np.ma.MaskedArray), f"{name} has a mask: fill or leave out what is masked.")
    require(
        array.dtype.kind in NUMBERS,
        f"{name} must be a table of real numbers, not of {array.dtype}: convert or leave out what is not a number.",
    )
    array = array.view(np.uint8) if array.dtype.kind == "b" else array
    array = array[:, None] if array.ndim == 1 else array
    require(array.ndim == 2, f"{name} must have two axes (rows, columns), not {array.ndim}: reshape it.")
    require(array.size > 0, f"{name} is empty: give at least one row and one column.")
    return array
