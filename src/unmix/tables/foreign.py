"""Tables of other packages, recognised without importing them: made plain where it is plain what is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Num, Shaped
from numpy import ndarray
from torch.utils.data import DataLoader, Dataset

from unmix.errors import InputError
from unmix.tables.tensor import array_of

BLOCK_BYTES = 2**24


def known(source: Any, name: str, factors: bool = False) -> Any:
    """The source itself, or what stands for it; of what could mean several things, a sentence on how to say which.

    Parameters
    ----------
    factors : whether known variables are meant, and not rows of numbers.
    """
    if _is(source, "polars", "LazyFrame"):
        return source.collect()
    if isinstance(source, Mapping) and hasattr(source, "tocsr"):  # one kind of SciPy looks like a mapping of names
        return source.tocsr()
    if _is(source, "anndata", "AnnData"):
        tables = ", ".join(f"adata.obsm[{key!r}]" for key in list(source.obsm)[:5])
        give = "adata.obs" if factors else f"one of them, {tables or 'such as adata.obsm[...]'}, or adata.X"
        raise InputError(f"an AnnData holds several tables: for {name} give {give}.")
    if isinstance(source, DataLoader):
        raise InputError(
            f"a DataLoader may shuffle rows, and its batches may hold more than these: for {name} give (batch[0] for "
            "batch in loader), or what the rows are called there, of a loader with shuffle=False."
        )
    if isinstance(source, Dataset) or _is(source, "datasets", "Dataset"):
        raise InputError(
            f"the items of a {type(source).__name__} may hold more than rows: for {name} give the rows alone, such as "
            "torch.stack([item[0] for item in dataset]), or a data frame."
        )
    return source


def is_sparse(source: Any) -> bool:
    """Whether most numbers are left out: a SciPy matrix or array, or a tensor."""
    if isinstance(source, torch.Tensor):
        return source.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr)
    return hasattr(source, "tocsr") and hasattr(source, "toarray")


def filled(source: Any, name: str) -> Iterator[Num[ndarray, "m k"]]:
    """The rows of a sparse table with their zeros, some at a time."""
    if isinstance(source, torch.Tensor):
        source = _csr(source, name)
    if len(source.shape) != 2:
        raise InputError(f"{name} must have two axes (rows, columns), not {len(source.shape)}: reshape it.")
    rows = source.tocsr()
    step = max(1, BLOCK_BYTES // max(1, 8 * rows.shape[1]))
    return (rows[a : a + step].toarray() for a in range(0, rows.shape[0], step))


def is_arrow(source: Any) -> bool:
    """Whether it is a table of arrow or gives one, as polars does; pandas tables, whose rows have names, are not."""
    gives = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    return gives and hasattr(source, "columns") and not hasattr(source, "iloc")


def numbers_of_any(source: Any, name: str) -> Shaped[ndarray, ...]:
    """numpy's array of whatever it takes, of rows that are arrays or tensors too."""
    if isinstance(source, (list, tuple)) and source and all(isinstance(row, torch.Tensor) for row in source):
        source = [array_of(row, name) for row in source]
    try:
        array = np.asarray(source)
    except Exception as error:  # whatever a stranger's class raises
        raise InputError(f"{name} must be a table of numbers with rows of equal length.") from error
    if array.dtype == object and array.ndim == 0:
        kind = type(source)
        raise InputError(
            f"a {kind.__module__.partition('.')[0]}.{kind.__name__} is no table: for {name} give an array, a tensor, a "
            "data frame, a file, or an iterator of batches."
        )
    return stacked(array) if array.dtype == object and array.ndim == 1 else array


def stacked(values: Shaped[ndarray, " n"]) -> Shaped[ndarray, ...]:
    """Rows that are lists or arrays as one table; other objects as they are."""
    try:
        return np.stack([np.asarray(row) for row in values]) if len(values) and np.ndim(values[0]) else values
    except ValueError:
        return values


def _csr(tensor: torch.Tensor, name: str) -> Any:
    from scipy.sparse import coo_array  # slow to import

    plain = tensor.detach().cpu().to_sparse_coo().coalesce()
    if plain.sparse_dim() != 2 or plain.dense_dim():
        return coo_array(array_of(plain, name))
    return coo_array((array_of(plain.values(), name), tuple(plain.indices().numpy())), shape=tuple(plain.shape))


def _is(source: Any, package: str, kind: str) -> bool:
    """Whether it is of a class of that package, which need not be there."""
    return any(c.__name__ == kind and c.__module__.partition(".")[0] == package for c in type(source).__mro__)
