"""Fixed rows as a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import Tensor

from unmix.errors import require
from unmix.estimators.views import View


@dataclass(frozen=True, eq=False)
class Rows:
    """What an objective may be told of fixed rows: `x`, and a second view or a label of each.

    Attributes
    ----------
    second : another view of each row, where pairs are given.
    label : the number of each row's class or instance.
    view : makes another view of rows; for labels, of the row itself.
    """

    x: Tensor
    second: Tensor | None = None
    label: Tensor | None = None
    view: View | None = None

    def __len__(self) -> int:
        return len(self.x)

    def some(self, index: Tensor) -> Rows:
        """These rows only."""
        second, label = (None if t is None else t[index] for t in (self.second, self.label))
        return Rows(self.x[index], second, label, self.view)

    def batch(self, index: Tensor, generator: torch.Generator, device: str) -> SimpleNamespace:
        """Some rows as an objective takes them, with fresh views."""
        part = self.some(index)
        x = part.x
        if part.label is not None:
            x = self._seen(x, generator)
            label = part.label.to(device)
            return SimpleNamespace(x=x.to(device), label=label, instance=label, among=None)
        second = part.second if part.second is not None else self._seen(x, generator)
        return SimpleNamespace(x=x.to(device), x_view=second.to(device))

    def _seen(self, x: Tensor, generator: torch.Generator) -> Tensor:
        if self.view is None:
            return x
        seen = self.view(x, generator)
        alike = isinstance(seen, Tensor) and seen.shape == x.shape and bool(seen.isfinite().all())
        require(alike, f"the view must give a finite tensor of the shape of its rows, {tuple(x.shape)}.")
        return seen


def shuffled(rows: int, batch: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Numbers of rows for ever: each epoch in a new order, whole batches only, so that all have as many negatives."""
    batch = min(batch, rows)
    while True:
        order = torch.randperm(rows, generator=generator)
        yield from order[: rows - rows % batch].split(batch)


def in_order(rows: int, batch: int) -> list[Tensor]:
    """Numbers of all rows, in batches of nearly equal size, at most `batch`."""
    return list(torch.arange(rows).tensor_split(-(-rows // batch)))
