"""How the rows of a step are chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from unmix.errors import require, require_kind
from unmix.objectives import DIET, Objective
from unmix.processes import ClusterProcess, PairProcess, Pairs, Process
from unmix.training.regions import regions

Embed = Callable[[Tensor], Tensor]
MEMORY = 0.02  # the share of the newest loss in the running mean


@runtime_checkable
class Source(Protocol):
    """A stream of batches that can be saved and taken up again."""

    def next(self, embed: Embed) -> Any:
        """The next step's rows; `embed` is the encoder as it is now."""
        ...

    def told(self, loss: float) -> None:
        """Hear the loss of the step."""

    def state(self) -> dict[str, Tensor]: ...
    def restore(self, state: dict[str, Tensor]) -> None: ...


@dataclass(frozen=True)
class Fresh:
    """Every step draws its own rows.

    Examples
    --------
    >>> Fresh().check(1024)
    """

    def check(self, batch: int) -> None:
        """Every size of batch will do."""

    def check_use(self, process: Process, objective: Objective) -> None:
        """Every process and objective will do."""

    def source(self, process: Process, batch: int, generator: torch.Generator) -> Source:
        return _FreshSource(process.sample, batch, generator)


@dataclass(frozen=True)
class SomeLabels:
    """Every step draws `labels` of the instance labels, and its rows among them, for DIET with a great many labels.

    The softmax of that step runs over the drawn set S. Given that a label lies in S, its posterior is the full one
    restricted to S, so p(i|x, S) ∝ exp(β⟨w_i, f(x)⟩) has the same f and w as the full softmax: the form in which
    Roeder et al. 2021 state their theorem. A step costs B × |S| instead of B × N. That holds where a head can express
    the posterior; where it cannot, the optimum depends on |S|.

    Examples
    --------
    >>> SomeLabels(500).check(1024)
    """

    labels: int = 500

    def __post_init__(self) -> None:
        require(self.labels >= 2, f"a softmax needs at least 2 labels, not {self.labels}.")

    def check(self, batch: int) -> None:
        """Every size of batch will do."""

    def check_use(self, process: Process, objective: Objective) -> None:
        require_kind(objective, DIET, "the objective of batches of some labels", "um.DIET()")
        assert isinstance(process, ClusterProcess)  # or DIET would have refused it
        require(
            self.labels <= process.labels,
            f"there are {process.labels} instance labels: a step cannot draw {self.labels} of them.",
        )

    def source(self, process: Process, batch: int, generator: torch.Generator) -> Source:
        assert isinstance(process, ClusterProcess)

        def sample(n: int, generator: torch.Generator) -> Any:
            drawn = torch.randint(process.labels, (self.labels * 2,), generator=generator).unique()
            while len(drawn) < self.labels:  # few labels: draw them all in a random order
                drawn = torch.randperm(process.labels, generator=generator)
            picked = torch.randperm(len(drawn), generator=generator)[: self.labels]
            return process.sample(n, generator, among=drawn[picked])

        return _FreshSource(sample, batch, generator)


@dataclass(frozen=True)
class Local:
    """Batches of neighbours, as near to each other as the loss asks for.

    Where the conditional is narrow, nearly all negatives of a random batch are too far away to carry a gradient
    (box, scale 0.05, d = 10: 2 pairs in 10,000 are near), and InfoNCE stops learning at a small loss. Neighbours are
    near. A pool of `rows` · 2^`depth` fresh pairs is cut into regions by halving it again and again (`regions`), in
    the coordinates of the encoder as it is when the pool is drawn; no latent is looked at. Each step takes a few blocks
    of `rows` pairs, the anchors of a block from one region; each block serves once. The first pool is not cut at all;
    the next ones are cut once more than the one before whenever the loss has fallen below `below`, so that a signal
    that is strong enough keeps its random batches.

    For a uniform marginal the optimum stays where it was: restricted to a region it is uniform there, and the best
    critic log p(x̃|x)/p(x̃) changes by a constant only. That is exact for positives that stay in the region; those that
    leave it make the best scale of the output smaller than the law's own, but have no preferred direction, because
    regions are cut along random axes each time. Several blocks in one batch keep far points apart. For another
    marginal, or a similarity that does not match the conditional, the optimum moves.

    Parameters
    ----------
    rows : pairs a block; a batch is a whole number of blocks.
    depth : how often a pool is halved at most.
    below : the running mean of the loss under which the next pool is cut once more.

    Examples
    --------
    >>> Local(rows=256, depth=10).pool
    262144
    """

    rows: int = 256
    depth: int = 10
    below: float = 0.3

    def __post_init__(self) -> None:
        require(self.rows >= 2, f"a block needs at least 2 rows to have a negative, not {self.rows}.")
        require(0 <= self.depth <= 24, f"the pool is halved 0 to 24 times, not {self.depth}.")
        require(self.below > 0, f"the loss is never below 0: give a larger limit than {self.below}.")

    @property
    def pool(self) -> int:
        return self.rows << self.depth

    def check(self, batch: int) -> None:
        require(
            batch % self.rows == 0 and batch <= self.pool,
            f"a batch of {batch} is not a whole number of blocks of {self.rows} rows out of {1 << self.depth}: "
            f"make it a multiple of {self.rows}.",
        )

    def check_use(self, process: Process, objective: Objective) -> None:
        require_kind(process, PairProcess, "the process of local batches", "um.PairProcess(...)")

    def source(self, process: Process, batch: int, generator: torch.Generator) -> Source:
        assert isinstance(process, PairProcess)
        return _LocalSource(self, process, batch // self.rows, generator)


class _FreshSource:
    def __init__(self, sample: Callable[[int, torch.Generator], Any], batch: int, generator: torch.Generator) -> None:
        self.sample, self.batch, self.generator = sample, batch, generator

    def next(self, embed: Embed) -> Any:
        return self.sample(self.batch, self.generator)

    def told(self, loss: float) -> None:
        """Fresh batches are the same whatever the loss."""

    def state(self) -> dict[str, Tensor]:
        return {"generator": self.generator.get_state()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.generator.set_state(state["generator"])


class _LocalSource:
    """Holds a pool, its blocks in the order in which they serve, and how many have served."""

    def __init__(self, local: Local, process: PairProcess, blocks: int, generator: torch.Generator) -> None:
        self.local, self.process, self.blocks_a_step, self.generator = local, process, blocks, generator
        self.pairs: Pairs | None = None
        self.before = generator.get_state()
        self.blocks = torch.empty(0, local.rows, dtype=torch.long)
        self.used, self.depth, self.loss = 0, 0, math.inf

    def next(self, embed: Embed) -> Pairs:
        if self.used + self.blocks_a_step > len(self.blocks):
            if self.loss < self.local.below:
                self.depth = min(self.depth + 1, self.local.depth)
            self.pairs = self._draw()
            self.blocks, self.used = self._cut(embed(self.pairs.x)), 0
        assert self.pairs is not None
        rows = self.blocks[self.used : self.used + self.blocks_a_step].reshape(-1)
        self.used += self.blocks_a_step
        return Pairs(*(part[rows] for part in self.pairs))

    def told(self, loss: float) -> None:
        self.loss = loss if math.isinf(self.loss) else (1 - MEMORY) * self.loss + MEMORY * loss

    def _draw(self) -> Pairs:
        self.before = self.generator.get_state()
        return self.process.sample(self.local.pool, self.generator)

    def _cut(self, points: Tensor) -> Tensor:
        """Blocks of rows of one region each, in random order."""
        found = regions(points, self.depth, self.generator)
        found = found.gather(1, torch.rand(found.shape, generator=self.generator).argsort(1))
        blocks = found.reshape(-1, self.local.rows)
        return blocks[torch.randperm(len(blocks), generator=self.generator)]

    def state(self) -> dict[str, Tensor]:
        """The pool is drawn again from the generator's state before it; its blocks depend on weights long gone."""
        loss = torch.tensor(self.loss, dtype=torch.float64)
        now = {"generator": self.generator.get_state(), "counts": torch.tensor([self.used, self.depth]), "loss": loss}
        return now | ({"before": self.before, "blocks": self.blocks.int()} if len(self.blocks) else {})

    def restore(self, state: dict[str, Tensor]) -> None:
        if "blocks" in state:
            self.generator.set_state(state["before"])
            self.pairs = self._draw()
            self.blocks = state["blocks"].long()
        self.used, self.depth = state["counts"].tolist()
        self.loss = state["loss"].item()
        self.generator.set_state(state["generator"])
