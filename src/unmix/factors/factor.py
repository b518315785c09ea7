"""A known variable as an audit uses it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy import ndarray

from unmix.factors.kinds import Categorical, Kind


@dataclass(frozen=True, eq=False)
class Factor:
    """A variable with the columns that a linear map has to predict.

    Attributes
    ----------
    stated : whether the user said its kind; otherwise it was inferred.
    targets : (n, m), NaN in rows where it is missing: the value, its rank, cosine and sine, or a 1 for its class.
    levels : the classes of a categorical factor, in the order of the targets.
    """

    name: str
    kind: Kind
    stated: bool
    targets: Float64[ndarray, "n m"]
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the targets: the factor's own where there is one."""
        if self.categorical:
            return tuple(f"{self.name} = {level}" for level in self.levels)
        return (self.name,) if self.targets.shape[1] == 1 else (f"cos {self.name}", f"sin {self.name}")

    @cached_property
    def present(self) -> Bool[ndarray, " n"]:
        return ~np.isnan(self.targets[:, 0])

    @cached_property
    def pattern(self) -> bytes:
        """In which rows it is known."""
        return np.packbits(self.present).tobytes()

    @property
    def categorical(self) -> bool:
        return isinstance(self.kind, Categorical)

    @cached_property
    def codes(self) -> Int64[ndarray, " n"]:
        """The class of each row, −1 where it is missing."""
        return np.where(self.present, np.nan_to_num(self.targets).argmax(1), -1)

    @property
    def told(self) -> str:
        """The kind and where it is from: "categorical, 3 classes (inferred)"."""
        classes = f", {len(self.levels)} classes" if self.levels else ""
        return f"{self.kind}{classes} ({'stated' if self.stated else 'inferred'})"


@dataclass(frozen=True)
class Left:
    """A variable that is left out, and why."""

    name: str
    reason: str
