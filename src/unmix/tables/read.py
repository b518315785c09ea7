"""One door for tables: tensors, arrays, frames, files and iterators of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Num
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables import formats
from unmix.tables.arrow import arrow_table
from unmix.tables.foreign import filled, is_arrow, is_sparse, known, numbers_of_any, stacked
from unmix.tables.index import index_of
from unmix.tables.spool import spool
from unmix.tables.table import NUMBERS, Table, as_rows
from unmix.tables.tensor import array_of

T = TypeVar("T")


def read(source: Any, name: str | None = None, *, labels: Sequence[str] = ()) -> Table:
    """A table from a tensor, an array, a data frame, an iterator of batches, or a file.

    Files: .npy (memory-mapped), .npz, .safetensors, .parquet, .csv, .tsv. Of files with several arrays, the one
    to read is named after two colons, `activations.npz::layer3`.

    Parameters
    ----------
    labels : names of columns (or arrays in the file) that are labels, not numbers: ids and groups.

    Examples
    --------
    >>> read([[1, 2], [3, 4]], "a").values.shape
    (2, 2)
    """
    if isinstance(source, Table):
        return source if name is None else replace(source, name=name)
    if isinstance(source, (str, Path)):
        return _file(str(source), name, labels)
    name = name or "the table"
    source = known(source, name)
    if is_sparse(source):
        return Table(name, spool(filled(source, name), name, 4 * prod(source.shape)))
    if isinstance(source, torch.Tensor):
        return Table(name, as_rows(array_of(source, name), name))
    if is_arrow(source):
        return _arrow(source, name, labels)
    if hasattr(source, "to_numpy") and hasattr(source, "columns"):
        return _frame(source, name, labels)
    if isinstance(source, Iterator):
        return Table(name, spool((array_of(b, name) if isinstance(b, torch.Tensor) else b for b in source), name))
    return Table(name, as_rows(source if isinstance(source, np.ndarray) else numbers_of_any(source, name), name))


def members(source: str | Path) -> dict[str, bool]:
    """The arrays in a file of several (.npz, .safetensors): name → whether it is a table, of two axes."""
    path = Path(source)
    lister = formats.MEMBERS.get(path.suffix.lower())
    require(lister is not None, f"{path.name} holds one table: give .npz or .safetensors files with several.")
    require(path.is_file(), f"there is no file {source}.")
    assert lister is not None
    return told(path, lambda: lister(path))


def _file(text: str, name: str | None, labels: Sequence[str]) -> Table:
    path, member = file_parts(text)
    reader = formats.READERS[path.suffix.lower()]
    title = name or (f"{path.stem}::{member}" if member else path.stem)
    return told(path, lambda: reader(path, title, member, tuple(labels)))


def file_parts(text: str) -> tuple[Path, str]:
    """The file and the name of the array in it, of FILE or FILE::NAME; a file that cannot be read is refused."""
    place, _, member = text.partition("::")
    path = Path(place)
    known = ", ".join(formats.READERS)
    require(
        path.suffix.lower() in formats.READERS,
        f"{path.name} is of no kind that unmix reads: give one of {known} (save a spreadsheet as .csv).",
    )
    require(path.is_file(), f"there is no file {place}.")
    return path, member


def told(path: Path, reading: Callable[[], T]) -> T:
    """Whatever a library says of a damaged file becomes one sentence."""
    try:
        return reading()
    except InputError:
        raise
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} cannot be read as {path.suffix}: {said[:200]}; write it anew.") from error


def _frame(frame: Any, name: str, labels: Sequence[str]) -> Table:
    """A pandas frame, or what is like one."""
    columns = [str(c) for c in frame.columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    require(not twice, f"{name} has the column {', '.join(twice)} more than once: rename it.")
    missing = [c for c in labels if c not in columns]
    require(not missing, f"{name} has no column {', '.join(missing)}: it has {', '.join(columns[:20])}.")
    kept = [c for c in frame.columns if str(c) not in labels]
    named = {str(c): np.asarray(frame[c]) for c in frame.columns if str(c) in labels}
    values = frame[kept].to_numpy()
    if values.dtype.kind not in NUMBERS:
        values = np.hstack([_column(frame[c], str(c), name) for c in kept])
    titles = tuple(map(str, kept)) if values.shape[1:] == (len(kept),) else ()
    return Table(name, as_rows(values, name), titles, named, index_of(frame))


def _column(column: Any, title: str, name: str) -> Num[ndarray, "n k"]:
    """A column of numbers of a kind that pandas alone has, with NaN for its gaps; or of lists, which are columns."""
    kind = getattr(column, "dtype", None)
    if getattr(kind, "kind", "O") in NUMBERS and hasattr(column, "isna"):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))[:, None]
    values = np.asarray(column)
    values = stacked(values) if values.dtype == object else values
    require(
        values.dtype.kind in NUMBERS and values.ndim <= 2,
        f"{name} must be a table of real numbers: column {title} is {kind}; name it as ids or groups, or leave it out.",
    )
    return values[:, None] if values.ndim == 1 else values


def _arrow(source: Any, name: str, labels: Sequence[str]) -> Table:
    import pyarrow as pa

    table = pa.table(source)
    twice = sorted({c for c in table.column_names if table.column_names.count(c) > 1})
    require(not twice, f"{name} has the column {', '.join(twice)} more than once: rename it.")
    return arrow_table(name, name, tuple(labels), table.schema, table.to_batches(max_chunksize=2**14), len(table))
