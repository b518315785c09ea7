"""How wide intervals are, next to how far scores are from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from calibration.coverage import Related

REACH = 1.96  # of a normal error, in standard deviations


@dataclass(frozen=True)
class Width:
    """How far intervals reach below the score, on average, over 1.96 standard deviations of score − truth."""

    design: str
    measure: str
    repetitions: int
    ratio: float

    @property
    def shown(self) -> str:
        """With the standard error of a ratio to a standard deviation.

        Examples
        --------
        >>> Width("20 groups", "CKA", 200, 1.2).shown
        '1.20 ± 0.06'
        """
        return f"{self.ratio:.2f} ± {self.ratio / sqrt(2 * self.repetitions):.2f}"


def tallied(design: Related, found: Sequence[dict[str, Any]]) -> list[Width]:
    """The width of each measure, from what `coverage.once` gave."""
    names = list(dict.fromkeys(name for one in found for name in one))
    return [_width(design, name, [one[name] for one in found if name in one]) for name in names]


def _width(design: Related, name: str, found: Sequence[Sequence[Any]]) -> Width:
    """Where the truth is one number for all, it is their mean, about which the deviation is."""
    error = np.std([value - (truth or 0.0) for value, _, _, truth in found], ddof=1)
    reach = np.mean([value - low for value, low, _, _ in found])
    return Width(design.name, name, len(found), round(float(reach / (REACH * error)), 4))
