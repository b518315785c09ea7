"""Streams of batches: what `batches` describes, at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from unmix.processes import PairProcess, Pairs
from unmix.training.regions import regions

Embed = Callable[[Tensor], Tensor]


@runtime_checkable
class Source(Protocol):
    """A stream of batches that can be saved and taken up again.

    `among` holds the instance labels that its rows are of; None is all there are.
    """

    among: Tensor | None

    def next(self, embed: Embed) -> Any:
        """The next step's rows; `embed` is the encoder as it is now."""
        ...

    def state(self) -> dict[str, Tensor]: ...
    def restore(self, state: dict[str, Tensor]) -> None: ...


class FreshSource:
    """Calls a sampler at every step."""

    def __init__(
        self,
        sample: Callable[[int, torch.Generator], Any],
        batch: int,
        generator: torch.Generator,
        among: Tensor | None = None,
    ) -> None:
        self.sample, self.batch, self.generator, self.among = sample, batch, generator, among

    def next(self, embed: Embed) -> Any:
        return self.sample(self.batch, self.generator)

    def state(self) -> dict[str, Tensor]:
        some = {} if self.among is None else {"among": self.among}
        return {"generator": self.generator.get_state(), **some}

    def restore(self, state: dict[str, Tensor]) -> None:
        if self.among is not None and not torch.equal(state["among"], self.among):
            raise ValueError("another draw of the labels, such as another version of torch makes")
        self.generator.set_state(state["generator"])


class LocalSource:
    """Holds a pool, its blocks in the order in which they serve, and how many have served."""

    among: Tensor | None = None

    def __init__(self, process: PairProcess, rows: int, deepest: int, blocks: int, generator: torch.Generator) -> None:
        self.process, self.rows, self.deepest = process, rows, deepest
        self.blocks_a_step, self.generator = blocks, generator
        self.pairs: Pairs | None = None
        self.before = generator.get_state()
        self.blocks = torch.empty(0, rows, dtype=torch.long)
        self.used, self.depth = 0, 0

    def next(self, embed: Embed) -> Pairs:
        if self.used + self.blocks_a_step > len(self.blocks):
            self.depth = min(self.depth + 1, self.deepest) if len(self.blocks) else 0
            self.pairs = self._draw()
            self.blocks, self.used = self._cut(embed(self.pairs.x)), 0
        assert self.pairs is not None
        rows = self.blocks[self.used : self.used + self.blocks_a_step].reshape(-1)
        self.used += self.blocks_a_step
        return Pairs(*(part[rows] for part in self.pairs))

    def _draw(self) -> Pairs:
        self.before = self.generator.get_state()
        return self.process.sample(self.rows << self.deepest, self.generator)

    def _cut(self, points: Tensor) -> Tensor:
        """Blocks of rows of one region each, in random order."""
        found = regions(points, self.depth, self.generator)
        found = found.gather(1, torch.rand(found.shape, generator=self.generator).argsort(1))
        blocks = found.reshape(-1, self.rows)
        return blocks[torch.randperm(len(blocks), generator=self.generator)]

    def state(self) -> dict[str, Tensor]:
        """The pool is drawn again from the generator's state before it; its blocks depend on weights long gone."""
        now = {"generator": self.generator.get_state(), "counts": torch.tensor([self.used, self.depth])}
        return now | ({"before": self.before, "blocks": self.blocks.int()} if len(self.blocks) else {})

    def restore(self, state: dict[str, Tensor]) -> None:
        if "blocks" in state:
            self.generator.set_state(state["before"])
            self.pairs = self._draw()
            self.blocks = state["blocks"].long()
        self.used, self.depth = state["counts"].tolist()
        self.generator.set_state(state["generator"])
