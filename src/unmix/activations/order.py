"""Whether a loader gives its rows in the order of the data: only then do their numbers name them."""

from __future__ import annotations

from typing import Any

from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

from unmix.errors import require

RANDOM = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)


def require_fixed_order(loader: Any, named: bool) -> None:
    """Refuse a loader that shuffles and, unless its rows are named, one of an order of its own.

    Examples
    --------
    >>> require_fixed_order(DataLoader([3, 1, 4]), named=False)
    """
    samplers = _samplers(loader)
    require(
        not any(isinstance(sampler, RANDOM) for sampler in samplers),
        "the loader shuffles its rows, which then have no names: build it with shuffle=False.",
    )
    if named or not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
        return
    odd = [type(s).__name__ for s in samplers if type(s) not in (SequentialSampler, BatchSampler)]
    require(
        not odd,
        f"the loader has an order of its own ({', '.join(odd)}), and numbers would not name its rows: "
        "give ids in that order, or build it without a sampler.",
    )


def _samplers(loader: Any) -> list[Any]:
    """What the order is drawn by: a loader that is given a batch sampler does not use its own sampler."""
    by_batch = getattr(loader, "batch_sampler", None)
    if by_batch is None:
        return [sampler for sampler in [getattr(loader, "sampler", None)] if sampler is not None]
    inner = getattr(by_batch, "sampler", None)
    return [by_batch] if inner is None else [by_batch, inner]
