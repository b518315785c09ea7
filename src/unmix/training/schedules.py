"""How the rate moves over a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unmix.errors import require


@dataclass(frozen=True)
class Constant:
    """The rate never changes.

    Examples
    --------
    >>> Constant().factor(0.3)
    1.0
    """

    def factor(self, progress: float) -> float:
        return 1.0


@dataclass(frozen=True)
class OneCycle:
    """The rate rises from a twenty-fifth to its peak by a cosine, then falls to zero by a cosine (Smith 2018).

    Examples
    --------
    >>> OneCycle(warmup=0.25).factor(0.25)
    1.0
    """

    warmup: float = 0.25

    def __post_init__(self) -> None:
        require(0 < self.warmup < 1, f"the warm-up is a share of the run between 0 and 1, not {self.warmup}.")

    def factor(self, progress: float) -> float:
        """The share of the peak rate, at a share `progress` in [0, 1] of the run."""
        if progress < self.warmup:
            return 0.04 + 0.96 * (1 - math.cos(math.pi * progress / self.warmup)) / 2
        return (1 + math.cos(math.pi * (progress - self.warmup) / (1 - self.warmup))) / 2
