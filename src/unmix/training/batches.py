"""How the pairs of a step are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from unmix.errors import require
from unmix.processes import PairProcess, Pairs
from unmix.training.regions import regions

Embed = Callable[[Tensor], Tensor]


class Source(Protocol):
    """A stream of batches that can be saved and taken up again."""

    def next(self, embed: Embed) -> Pairs:
        """The pairs of the next step; `embed` is the encoder as it is now, without gradients."""
        ...

    def state(self) -> dict[str, Tensor]: ...
    def restore(self, state: dict[str, Tensor]) -> None: ...


@dataclass(frozen=True)
class Fresh:
    """Every step draws its own pairs.

    Examples
    --------
    >>> Fresh().check(1024)
    """

    def check(self, batch: int) -> None:
        """Every size of batch will do."""

    def source(self, process: PairProcess, batch: int, generator: torch.Generator) -> Source:
        return _FreshSource(process, batch, generator)


@dataclass(frozen=True)
class Local:
    """Every step takes a few small regions of the observations and all pairs of a pool whose anchor lies there.

    Where the conditional is narrow, nearly all negatives of a random batch are too far away to carry a gradient
    (box, scale 0.05, d = 10: 2 pairs in 10,000 are near), and InfoNCE stops learning at a small loss. Neighbours are
    near. A pool of `rows` · 2^`depth` fresh pairs is cut into 2^depth regions of equal size by halving it again and
    again (`regions`), in the coordinates of the encoder as it is when the pool is drawn; no latent is looked at. Each
    region serves in one step only.

    The optimum stays where it was for a uniform marginal: restricted to a region it is uniform there, and the best
    critic log p(x̃|x)/p(x̃) changes by a constant only. (Exactly so for positives that stay in the region; regions are
    cut along random axes each time, so that what happens at their border has no preferred direction.) Several regions
    in one batch keep far points apart. For another marginal the critic gains log p(x̃), as it does without regions.

    Parameters
    ----------
    rows : pairs a region; a batch is a whole number of regions.
    depth : halvings of the pool. The number of near negatives grows with the pool.

    Examples
    --------
    >>> Local(rows=256, depth=10).pool
    262144
    """

    rows: int = 256
    depth: int = 10

    def __post_init__(self) -> None:
        require(self.rows >= 2, f"a region needs at least 2 rows to have a negative, not {self.rows}.")
        require(0 <= self.depth <= 24, f"the pool is halved 0 to 24 times, not {self.depth}.")

    @property
    def pool(self) -> int:
        return self.rows << self.depth

    def check(self, batch: int) -> None:
        require(
            batch % self.rows == 0 and batch <= self.pool,
            f"a batch of {batch} is not a whole number of regions of {self.rows} rows out of {1 << self.depth}: "
            f"make it a multiple of {self.rows}.",
        )

    def source(self, process: PairProcess, batch: int, generator: torch.Generator) -> Source:
        return _LocalSource(self, process, batch // self.rows, generator)


class _FreshSource:
    def __init__(self, process: PairProcess, batch: int, generator: torch.Generator) -> None:
        self.process, self.batch, self.generator = process, batch, generator

    def next(self, embed: Embed) -> Pairs:
        return self.process.sample(self.batch, self.generator)

    def state(self) -> dict[str, Tensor]:
        return {"generator": self.generator.get_state()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.generator.set_state(state["generator"])


class _LocalSource:
    """Holds a pool, the rows of each region, and how many regions were used."""

    def __init__(self, local: Local, process: PairProcess, regions: int, generator: torch.Generator) -> None:
        self.local, self.process, self.regions, self.generator = local, process, regions, generator
        self.cut = torch.empty(0, local.rows, dtype=torch.long)
        self.used = 0

    def next(self, embed: Embed) -> Pairs:
        if self.used + self.regions > len(self.cut):
            self._draw()
            found = regions(embed(self.pairs.x), self.local.depth, self.generator)
            self.cut, self.used = found[torch.randperm(len(found), generator=self.generator)], 0
        rows = self.cut[self.used : self.used + self.regions].reshape(-1)
        self.used += self.regions
        return Pairs(*(part[rows] for part in self.pairs))

    def _draw(self) -> None:
        self.before = self.generator.get_state()
        self.pairs = self.process.sample(self.local.pool, self.generator)

    def state(self) -> dict[str, Tensor]:
        """The pool is drawn again from the generator's state before it; the regions depend on weights long gone."""
        now = {"generator": self.generator.get_state(), "used": torch.tensor(self.used)}
        return now | ({"before": self.before, "cut": self.cut.int()} if len(self.cut) else {})

    def restore(self, state: dict[str, Tensor]) -> None:
        if "cut" in state:
            self.generator.set_state(state["before"])
            self._draw()
            self.cut, self.used = state["cut"].long(), int(state["used"])
        self.generator.set_state(state["generator"])
