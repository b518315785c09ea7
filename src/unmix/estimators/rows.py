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
            x = self.seen(x, generator)
            label = part.label.to(device)
            return SimpleNamespace(x=x.to(device), label=label, instance=label)
        second = part.second if part.second is not None else self.seen(x, generator)
        return SimpleNamespace(x=x.to(device), x_view=second.to(device))

    def seen(self, x: Tensor, generator: torch.Generator) -> Tensor:
        if self.view is None:
            return x
        seen = self.view(x.clone(), generator)  # it may work in place
        alike = isinstance(seen, Tensor) and seen.shape == x.shape and bool(seen.isfinite().all())
        require(alike, f"the view must give a finite tensor of the shape of its rows, {tuple(x.shape)}.")
        return seen.to(x.dtype)


def shuffled(rows: int, batch: int, unit: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Numbers of rows for ever: each epoch in a new order, whole batches only, so that all have as many negatives.

    A batch is a multiple of `unit`, the rows of a group of negatives.
    """
    batch = min(batch, rows) // unit * unit
    while True:
        order = torch.randperm(rows, generator=generator)
        yield from order[: rows - rows % batch].split(batch)


def once(rows: int, batch: int, unit: int, generator: torch.Generator) -> list[Tensor]:
    """Numbers of all rows (but for a rest smaller than `unit`) in one order, in batches of nearly equal size.

    The order is drawn: rows sorted by cluster would have their own cluster for negatives. No batch is smaller than
    `batch`, unless there are fewer rows.
    """
    order = torch.randperm(rows, generator=generator)[: rows - rows % unit].reshape(-1, unit)
    return [part.reshape(-1) for part in order.tensor_split(max(1, order.numel() // batch))]
