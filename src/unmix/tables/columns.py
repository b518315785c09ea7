"""Tables whose columns may be numbers or words, with gaps: known variables, one column each, held in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64, Shaped
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables.formats import MISSING, text_layout
from unmix.tables.read import file_parts, members, read, told
from unmix.tables.table import NUMBERS, Table

GAPS = {*MISSING, "nan", "<na>"}


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it came: numbers (NaN where missing) or words (None where missing)."""

    name: str
    values: Shaped[ndarray, " n"]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def present(self) -> Bool[ndarray, " n"]:
        """Where there is a value."""
        if self.values.dtype == object:
            return np.array([v is not None for v in self.values], bool)
        return ~np.isnan(self.values)

    @property
    def words(self) -> Shaped[ndarray, " n"]:
        """Every value as it is written, None where missing."""
        if self.values.dtype == object:
            return self.values
        levels, place = np.unique(self.values, return_inverse=True)
        return np.array([_written(v) for v in levels.tolist()], object)[place]

    @cached_property
    def numbers(self) -> Float64[ndarray, " n"]:
        """Every value as a number, NaN where missing or no number."""
        if self.values.dtype != object:
            return self.values
        return np.array([_number(v) for v in self.values], np.float64)

    @property
    def wrong(self) -> Int64[ndarray, " w"]:
        """The rows whose value is there but is no number."""
        return np.flatnonzero(self.present & np.isnan(self.numbers))


def read_columns(source: Any, name: str = "the factors", words: Sequence[str] = ()) -> tuple[Column, ...]:
    """Named columns from a mapping of arrays, a data frame, an array, a tensor, or a file.

    Files: .csv, .tsv and .parquet with one column a factor; .npy with one table; .npz and .safetensors with one table,
    or with an array of one axis for each factor. Columns without names are called factor 1, factor 2, ….

    Parameters
    ----------
    words : names of columns that are labels, such as ids, even where they look like numbers.

    Examples
    --------
    >>> [(c.name, c.wrong.tolist()) for c in read_columns({"size": [1, 2.5], "shape": ["disc", "ring"]})]
    [('size', []), ('shape', [0, 1])]
    """
    if isinstance(source, (str, Path)):
        raw = _from_file(str(source))
    elif isinstance(source, Mapping):
        raw = {str(key): values for key, values in source.items()}
    elif isinstance(source, torch.Tensor) or not hasattr(source, "columns"):
        raw = _numbered(source, name)
    elif isinstance(source, Table):
        raw = {c: source.values[:, i] for i, c in enumerate(source.columns)}
    else:
        names = [str(c) for c in source.columns]
        twice = sorted({n for n in names if names.count(n) > 1})
        require(not twice, f"{name} have the column {', '.join(twice)} more than once: rename it.")
        raw = {str(c): np.asarray(source[c]) for c in source.columns}
    columns = tuple(_column(key, values, key in words) for key, values in raw.items())
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
        if not any(there.values()):
            return {key: read(f"{path}::{key}").values[:, 0] for key in there}
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
    return {title: np.array(table[c].to_pylist(), object) for c, title in titles.items()}


def _from_parquet(path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return {title: _objects(table[title].to_pylist()) for title in table.column_names}


def _objects(values: list[Any]) -> Shaped[ndarray, " n"]:
    """One object a row, also of lists, which are refused by name later."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _numbered(source: Any, name: str) -> dict[str, Any]:
    """A table without names."""
    array = source.detach().cpu().double().numpy() if isinstance(source, torch.Tensor) else np.asarray(source)
    array = array[:, None] if array.ndim == 1 else array
    require(array.ndim == 2, f"{name} must have two axes (rows, factors), not {array.ndim}: reshape it.")
    return {f"factor {i + 1}": array[:, i] for i in range(array.shape[1])}


def _column(name: str, raw: Any, words: bool) -> Column:
    """Numbers as float64 (unless they are asked for as words), anything else as words; gaps as they are shown."""
    if isinstance(raw, torch.Tensor):
        raw = raw.detach().cpu().numpy()
    values = np.ma.filled(raw.astype(object), None) if isinstance(raw, np.ma.MaskedArray) else np.asarray(raw)
    require(values.ndim == 1, f"column {name} must hold one value a row, not lists: give one column each.")
    if values.dtype.kind in NUMBERS and values.dtype.kind != "b" and not words:
        return Column(name, _finite(np.asarray(values, np.float64), name))
    require(values.dtype.kind in "biufUSO", f"column {name} is {values.dtype}: give numbers or words, or leave it out.")
    plain = [_plain(v) for v in values.tolist()]
    kinds = {type(v) for v in plain if v is not None}
    odd = kinds - {bool, int, float, str}
    require(not odd, f"column {name} holds {', '.join(k.__name__ for k in odd)}: give numbers or words.")
    if kinds and kinds <= {int, float} and not words:
        return Column(name, _finite(np.array([np.nan if v is None else v for v in plain], np.float64), name))
    column = Column(name, _objects([None if v is None else _written(v) for v in plain]))
    if kinds == {str} and not words and not len(column.wrong) and column.present.any():
        return Column(name, _finite(column.numbers, name))
    return column


def _written(value: Any) -> str | None:
    """A value as text, whole numbers without a point; None of NaN."""
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else f"{value:.10g}"
    return str(value).strip()


def _plain(value: Any) -> Any:
    """The value, or None where it stands for a gap."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if value is None or (isinstance(value, str) and value.strip().lower() in GAPS):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and np.isnan(value) else value


def _number(value: Any) -> float:
    try:
        return float("nan") if value is None or "_" in str(value) else float(value)
    except ValueError:
        return float("nan")


def _finite(values: Float64[ndarray, " n"], name: str) -> Float64[ndarray, " n"]:
    bad = np.flatnonzero(np.isinf(values))
    require(
        not len(bad),
        f"column {name} is infinite in {len(bad)} rows, the first of them row {min(bad, default=0)}: correct them, or "
        "leave them empty.",
    )
    return values
