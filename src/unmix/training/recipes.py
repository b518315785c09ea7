"""How long, how large and how fast to train."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from unmix.errors import require
from unmix.model import Model
from unmix.processes import PairProcess
from unmix.training.batches import Fresh, Local


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


@dataclass(frozen=True)
class Recipe:
    """Adam on fresh batches of the process.

    Parameters
    ----------
    steps : the number of updates.
    batch : pairs a step.
    rate : Adam's (peak) learning rate.
    schedule : how the rate moves over the run.
    batches : which pairs a step takes: fresh ones, or neighbours out of a pool.
    whitening_rows : observations that whitening is estimated from.
    checkpoint_every, log_every : steps between checkpoints and between lines of metrics.jsonl.

    Examples
    --------
    >>> Recipe(steps=100, batch=64, rate=1e-2).schedule
    OneCycle(warmup=0.25)
    """

    steps: int
    batch: int
    rate: float
    schedule: OneCycle | Constant = field(default_factory=OneCycle)
    batches: Fresh | Local = field(default_factory=Fresh)
    whitening_rows: int = 50_000
    checkpoint_every: int = 500
    log_every: int = 50

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "whitening_rows", "checkpoint_every", "log_every"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, f"{name} must be a whole number of at least 1, not {value}.")
        require(0 < self.rate < math.inf, f"the learning rate must be positive and finite, not {self.rate}.")
        self.batches.check(self.batch)


def fast(steps: int = 4000, batch: int = 1024, rate: float = 1e-2) -> Recipe:
    """The default: few steps at a high rate, for the small whitened encoder that is `encoders.MLP()`.

    Examples
    --------
    >>> fast(steps=200).batch
    1024
    """
    return Recipe(steps, batch, rate)


def suited(process: PairProcess, model: Model) -> Recipe:
    """placeholder"""
    return fast()


def paper(supervised: bool = False) -> Recipe:
    """The published setting of Zimmermann et al. 2021 for `encoders.MLP.paper`: days on a CPU."""
    return Recipe(
        steps=100_001 if supervised else 300_003, batch=6144, rate=1e-4, schedule=Constant(), checkpoint_every=100
    )
