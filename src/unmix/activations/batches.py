"""Inputs of any kind as batches, each with its number of rows and its attention mask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

from unmix.activations.order import require_fixed_order
from unmix.errors import InputError, require

Call = Callable[[nn.Module, Any], Any]
BATCH = 64
KINDS = "a tensor, an array, or a tuple or dictionary of these"


@dataclass(frozen=True)
class Batch:
    """Some inputs.

    Attributes
    ----------
    content : a tensor, or a tuple or dictionary with tensors.
    """

    content: Any

    def tensors(self) -> list[Tensor]:
        """All tensors in it, in order, however deep."""
        return _tensors(self.content)

    def __len__(self) -> int:
        return len(self.tensors()[0])

    @property
    def mask(self) -> Tensor | None:
        """(n, tokens), true where a token is real, if the batch (of a tuple its first part) has an attention mask."""
        content = self.content[0] if isinstance(self.content, tuple) else self.content
        found = content.get("attention_mask") if isinstance(content, dict) else None
        return found.bool() if isinstance(found, Tensor) and found.ndim == 2 else None


@dataclass(frozen=True)
class Batches:
    """Batches in a fixed order.

    Attributes
    ----------
    source : iterated over once.
    size : rows of a batch, if the inputs were cut.
    rows, count : of all inputs, and of batches, where known beforehand.
    """

    source: Iterable[Any]
    size: int | None
    rows: int | None
    count: int | None

    @classmethod
    def of(cls, inputs: Any, size: int | None, named: bool = False) -> Batches:
        """Arrays and datasets cut to `size` rows; what comes in batches as it comes, in any fixed order if `named`."""
        if comes_in_batches(inputs):
            require(size is None, "these inputs come in batches of their own: leave out batch.")
            return cls(_loader(inputs, named), None, None, _length(inputs))
        size = require_size(BATCH if size is None else size)
        if isinstance(inputs, Dataset):
            rows = len(inputs)  # type: ignore[arg-type]  # one that is no IterableDataset has a length
            source: Iterable[Any] = DataLoader(inputs, batch_size=size)
        else:
            arrays = inputs if isinstance(inputs, Mapping) else {"": inputs}
            rows, source = _rows(arrays), _slices(arrays, size)
        return cls(source, size, rows, -(-rows // size))

    def __iter__(self) -> Iterator[Batch]:
        empty = True
        for content in self.source:
            batch = Batch(_with_tensors(content))
            require(bool(batch.tensors()), f"a batch must be {KINDS}, not {type(content).__name__}.")
            require(batch.tensors()[0].ndim > 0, "a batch has no axis of rows: give tensors with rows first.")
            if len(batch):
                empty = False
                yield batch
        require(not empty, "the inputs are empty: give at least one row.")


def run(model: nn.Module, batch: Batch, call: Call | None) -> Any:
    """What the model gives for a batch: a dictionary is keyword arguments, of a tuple only the first is an input."""
    like = next((p for p in model.parameters() if p.is_floating_point()), torch.empty(0))
    content = _moved(batch.content, like)
    try:
        if call is not None:
            return call(model, content)
        if isinstance(content, dict):
            return model(**content)
        return model(content[0] if isinstance(content, tuple) else content)
    except InputError:
        raise
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        shapes = ", ".join(f"{str(t.dtype).removeprefix('torch.')} {tuple(t.shape)}" for t in batch.tensors())
        said = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise InputError(
            f"the model cannot be called with a batch of {shapes} ({said}): give the inputs of its forward, or call=."
        ) from error


def _slices(arrays: Mapping[str, Any], size: int) -> Iterator[Any]:
    """Some rows of every array at a time; a single array has no name."""
    for a in range(0, _rows(arrays), size):
        some = {key: values[a : a + size] for key, values in arrays.items()}
        yield some[""] if list(some) == [""] else some


def _rows(arrays: Mapping[str, Any]) -> int:
    counts = {key: len(values) if np.ndim(values) else 0 for key, values in arrays.items()}
    require(len(set(counts.values())) == 1, f"the inputs must have equally many rows, not {counts}.")
    return next(iter(counts.values()))


def comes_in_batches(inputs: Any) -> bool:
    """Whether inputs are an iterable of batches, not rows that can be cut."""
    dataset = isinstance(inputs, Dataset) and not isinstance(inputs, IterableDataset)
    return not dataset and not isinstance(inputs, (Tensor, np.ndarray, Mapping))


def require_size(size: Any) -> int:
    """The rows of a batch, a whole number."""
    whole = isinstance(size, Integral) and not isinstance(size, bool)
    require(whole and size > 0, f"batch must be a whole number, of at least 1 row, not {size!r}.")
    return int(size)


def _loader(inputs: Any, named: bool) -> Iterable[Any]:
    require(
        isinstance(inputs, Iterable) and not isinstance(inputs, (str, bytes)),
        f"inputs must be {KINDS}, a torch Dataset, or an iterable of batches, not {type(inputs).__name__}.",
    )
    require_fixed_order(inputs, named)
    return inputs


def _length(inputs: Any) -> int | None:
    try:
        return len(inputs)
    except TypeError:  # an iterator, or a DataLoader of an iterable dataset
        return None


def _with_tensors(content: Any) -> Any:
    """The batch with tensors for arrays; a tuple for a list, a plain dict for any mapping."""
    if isinstance(content, Mapping):
        return {str(key): _with_tensors(value) for key, value in content.items()}
    if isinstance(content, (tuple, list)):
        return tuple(map(_with_tensors, content))
    if isinstance(content, np.ndarray) and content.dtype.kind in "biuf" and content.dtype.itemsize <= 8:
        # A copy: a mapped file is not to be written to, and torch knows the machine's own byte order only.
        return torch.from_numpy(np.array(content, dtype=content.dtype.newbyteorder("=")))
    return content


def _tensors(content: Any) -> list[Tensor]:
    if isinstance(content, Tensor):
        return [content]
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, tuple) else ()
    return [tensor for part in parts for tensor in _tensors(part)]


def _moved(content: Any, like: Tensor) -> Any:
    """On the model's device; numbers with a fraction in the model's precision."""
    if isinstance(content, dict):
        return {key: _moved(value, like) for key, value in content.items()}
    if isinstance(content, tuple):
        return tuple(_moved(value, like) for value in content)
    if isinstance(content, Tensor):
        return content.to(like.device, like.dtype if content.is_floating_point() else None)
    return content
