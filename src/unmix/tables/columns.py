"""Tables whose columns may be numbers or words, with gaps: known variables, one column each, held in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Int64, Shaped
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables.column import Column
from unmix.tables.foreign import filled, is_sparse, known, numbers_of_any
from unmix.tables.formats import safetensors_arrays, text_layout
from unmix.tables.npz import npz_arrays
from unmix.tables.read import file_parts, members, read, told
from unmix.tables.room import require_memory
from unmix.tables.table import Table
from unmix.tables.tensor import array_of

BYTES = 24  # of memory that a cell takes at least: as it is read, as a number, as a target


class Coded(NamedTuple):
    """The different values of a column, and which of them each row has."""

    values: list[Any]
    codes: Int64[ndarray, " n"]


def read_columns(
    source: Any, name: str = "the factors", words: Sequence[str] = (), only: Sequence[str] | None = None
) -> tuple[Column, ...]:
    """Named columns from a mapping of arrays, a data frame, an array, a tensor, or a file.

    Files: .csv, .tsv and .parquet with one column a factor; .npy with one table; .npz and .safetensors with one table,
    or with an array of one axis for each factor. Columns without names are called factor 1, factor 2, ….

    Parameters
    ----------
    words : names of columns that are labels, such as ids, even where they look like numbers.
    only : names of the columns to read, besides labels; all.

    Examples
    --------
    >>> [(c.name, c.wrong.tolist()) for c in read_columns({"size": [1, 2.5], "shape": ["disc", "ring"]})]
    [('size', []), ('shape', [0, 1])]
    """
    source = known(source, name, factors=True)
    if isinstance(source, (str, Path)):
        raw = _from_file(str(source))
    elif isinstance(source, Mapping):
        raw = {str(key): values for key, values in source.items()}
        require(len(raw) == len(source), f"{name} have two columns of one name: rename one.")
    elif hasattr(source, "column_names") and hasattr(source, "schema"):
        raw = _from_arrow(source)
    elif isinstance(source, torch.Tensor) or not hasattr(source, "columns"):
        raw = _numbered(source, name)
    elif isinstance(source, Table):
        raw = {c: source.values[:, i] for i, c in enumerate(source.columns)}
    else:
        names = [str(c) for c in source.columns]
        twice = sorted({n for n in names if names.count(n) > 1})
        require(not twice, f"{name} have the column {', '.join(twice)} more than once: rename it.")
        raw = {str(c): np.asarray(source[c]) for c in source.columns}
    there = ", ".join(list(raw)[:20])
    for asked, what in ((only or (), "factor"), (words, "column")):
        lost = ", ".join(str(n) for n in asked if n not in raw)
        require(not lost, f"{name} have no {what} {lost}: there are {there}.")
    wanted = {key: values for key, values in raw.items() if only is None or key in only or key in words}
    columns = tuple(
        Column.of_levels(key, values.values, values.codes, key in words)
        if isinstance(values, Coded)
        else Column.of(key, values, key in words)
        for key, values in wanted.items()
    )
    require(bool(columns), f"{name} have no columns: give at least one.")
    lengths = {len(c) for c in columns}
    require(len(lengths) == 1, f"{name} have columns of {sorted(lengths)} rows: give one value a row.")
    require(lengths != {0}, f"{name} have no rows: give at least one.")
    return columns


def _from_file(text: str) -> dict[str, Any]:
    path, member = file_parts(text)
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv"):
        require(not member, f"{path.name} holds one table: leave out ::{member}.")
        return told(path, lambda: _from_text(path))
    if kind == ".parquet":
        require(not member, f"{path.name} holds one table: leave out ::{member}.")
        return told(path, lambda: _from_parquet(path))
    if kind in (".npz", ".safetensors") and not member:
        there = members(path)
        tables = [key for key, table in there.items() if table]
        mixed = f"{path.name} has tables ({', '.join(tables)}) and columns: name one table, {path.name}::NAME."
        require(not tables or len(tables) == len(there), mixed)
        if not tables:
            return _arrays(path, list(there))
    return _numbered(read(text).values, path.name)


def _from_text(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow

    mark, columns, headed = text_layout(path)
    try:
        table = arrow.read_csv(
            path,
            read_options=arrow.ReadOptions(column_names=columns, skip_rows=int(headed)),
            parse_options=arrow.ParseOptions(delimiter=mark, ignore_empty_lines=len(columns) > 1),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        said = str(error).splitlines()[0]
        raise InputError(f"{path.name} is not a table ({said[:160]}): give every line the same columns.") from error
    titles = {c: c if headed else f"factor {int(c) + 1}" for c in columns}
    return {title: _coded(table[c]) for c, title in titles.items()}


def _from_parquet(path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        require_memory(file.metadata.num_rows * len(file.schema_arrow) * BYTES, path.name)
        return _from_arrow(file.read())


def _from_arrow(table: Any) -> dict[str, Any]:
    import pyarrow as pa

    twice = sorted({c for c in table.column_names if table.column_names.count(c) > 1})
    require(not twice, f"the column {', '.join(twice)} is there more than once: rename it.")
    found: dict[str, Any] = {}
    for title, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            found[title] = _coded(column)
        elif pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not column.null_count):
            found[title] = column.to_numpy()
        else:
            found[title] = _objects(column.to_pylist())
    return found


def _arrays(path: Path, names: list[str]) -> dict[str, Any]:
    """Arrays of one axis; of an .npz file they may hold words."""
    reader = npz_arrays if path.suffix.lower() == ".npz" else safetensors_arrays
    return told(path, lambda: reader(path, names))


def _coded(column: Any) -> Coded:
    """A column of words by its different ones, which are fewer."""
    found = column.combine_chunks().dictionary_encode()
    codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Coded(found.dictionary.to_pylist(), codes.astype(np.int64))


def _objects(values: list[Any]) -> Shaped[ndarray, " n"]:
    """One object a row, also of lists, which are refused by name later."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _numbered(source: Any, name: str) -> dict[str, Any]:
    """A table without names."""
    if isinstance(source, torch.Tensor):
        array = array_of(source, name)
    elif is_sparse(source):
        array = np.concatenate(list(filled(source, name)))
    else:
        array = numbers_of_any(source, name)
    array = array[:, None] if array.ndim == 1 else array
    require(array.ndim == 2, f"{name} must have two axes (rows, factors), not {array.ndim}: reshape it.")
    return {f"factor {i + 1}": array[:, i] for i in range(array.shape[1])}
