"""A network that is listened to while it runs: the rows that its layers give for a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor, nn

from unmix.activations.batches import Batch, Call, run
from unmix.activations.head import Head
from unmix.activations.layers import first_tensor, layer_named, listening, resting
from unmix.activations.logits import Trial
from unmix.activations.rows import Flatten, Mean, Rows
from unmix.errors import InputError, require

F = "f"  # the head's input, next to the names of layers


@dataclass
class Recorder:
    """Runs the model on batches.

    Attributes
    ----------
    layers : their outputs are rows of the tables of the same names.
    head : its input is the table f; on the first batch tried, and given every bias that the model adds to its logits.
    kind : the precision of the rows.
    """

    model: nn.Module
    layers: tuple[str, ...]
    head: Head | None
    rows: Rows
    call: Call | None
    kind: torch.dtype
    _found: dict[str, Tensor] = field(default_factory=dict, init=False)
    _mask: Tensor | None = field(default=None, init=False)
    _inputs: int = field(default=0, init=False)
    _tried: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        require(bool(self.tables), "there is nothing to record: name layers, or give a head.")
        twice = sorted({name for name in self.tables if self.tables.count(name) > 1})
        require(not twice, f"{', '.join(twice)} would be recorded twice: name it once, or rename a layer called f.")
        for name in self.layers:
            layer_named(self.model, name)
            require("/" not in name and "\\" not in name, f"layer {name} cannot name a file: rename it in the model.")
        if self.head is not None:
            require(
                self.head.is_of(self.model),
                f"the head {self.head.name} is of another model, or its weights have changed: take head(model) anew.",
            )

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        return (*self.layers, F) if self.head else self.layers

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hooks on the layers, and the model at rest, while open."""
        inputs = {self.head.name: self._hearing(F)} if self.head else {}
        with listening(self.model, {name: self._hearing(name) for name in self.layers}, inputs), resting(self.model):
            yield

    def rows_of(
        self, batch: Batch, ids: list[str]
    ) -> tuple[dict[str, Float[ndarray, "rows _"]], list[str], list[str] | None]:
        """Rows of each table for a batch, their ids and groups."""
        self._found, self._mask, self._inputs = {}, batch.mask, len(batch)
        head = None if self._tried else self.head
        trial = Trial(self.model, head, self.rows, self.call, batch) if head else None
        with trial.listening() if trial else nullcontext():
            output = run(self.model, batch, self.call)
        silent = [name for name in self.tables if name not in self._found]
        uncalled = ", ".join(self.head.name if name == F and self.head else name for name in silent)
        require(not silent, f"the model did not call {uncalled}: leave it out, or call the model otherwise.")
        labels, groups = self.rows.labels(ids, batch.mask, len(self._found[self.tables[0]]))
        for name in self.tables:
            self._check(name, labels)
        found = {name: self._found[name].numpy() for name in self.tables}
        if trial:
            self._found = {}  # to tell why it refuses, the trial runs the model again
            self.head, self._tried = trial.own(output), True
        return found, labels, groups

    def _hearing(self, name: str) -> Callable[[Any], None]:
        def hear(given: Any) -> None:
            require(name not in self._found, f"the model calls {name} more than once a batch: take another layer.")
            tensor = first_tensor(given)
            if tensor is None or not tensor.is_floating_point() or not tensor.ndim:
                raise InputError(f"layer {name} gives no table of numbers with a fraction: take another layer.")
            require(
                name != F or tensor.ndim == 2 or not isinstance(self.rows, (Flatten, Mean)),
                "f has an axis of tokens, and each has logits of its own: take EachToken() or LastToken().",
            )
            require(
                len(tensor) == self._inputs,
                f"layer {name} gives {'×'.join(map(str, tensor.shape))} for {self._inputs} inputs, whose axis must "
                "come first: take a layer that keeps rows apart, or build it with batch_first=True.",
            )
            mask = None if self._mask is None else self._mask.to(tensor.device)
            try:
                # A copy, and at once: the next layer may work in place.
                self._found[name] = self.rows.take(tensor, mask).to("cpu", self.kind, copy=True)
            except InputError as error:
                raise InputError(f"layer {name} has no such rows: {error}") from None

        return hear

    def _check(self, name: str, labels: list[str]) -> None:
        values = self._found[name]
        require(
            len(values) == len(labels),
            f"layer {name} gives {len(values)} rows where {len(labels)} are due: take a layer that keeps rows apart.",
        )
        if not bool(values.isfinite().all()):
            row = labels[int((~values.isfinite()).any(1).nonzero()[0])]
            kind = str(self.kind).removeprefix("torch.")
            raise InputError(
                f"layer {name} is NaN or infinite as {kind} in row {row}: correct or leave out that input."
            )
