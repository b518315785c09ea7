"""The file formats, each as a small reader: (path, name, member, label columns) → Table."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmix.errors import InputError, require
from unmix.tables.arrow import Labels, arrow_table
from unmix.tables.npz import BLOCK_BYTES, npz, npz_members, one_member
from unmix.tables.room import require_memory
from unmix.tables.spool import spool
from unmix.tables.table import Table, as_rows
from unmix.tables.tensor import array_of

MISSING = ("", "na", "n/a", "null", "none", "#n/a")


def npy(path: Path, name: str, member: str, labels: Labels) -> Table:
    """Memory-mapped: rows are read when they are used."""
    _no_member(path, member)
    require(not labels, f"{path.name} has no named columns: give labels as a file of their own, one a row.")
    return Table(name, as_rows(np.load(path, mmap_mode="r", allow_pickle=False), name))


def safetensors(path: Path, name: str, member: str, labels: Labels) -> Table:
    import torch
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        shapes = {key: file.get_slice(key).get_shape() for key in file.keys()}  # noqa: SIM118  # not a dictionary
        key = one_member(path, member, [k for k, shape in shapes.items() if len(shape) == 2], list(shapes))
        part, rows = file.get_slice(key), shapes[key][0]
        named = {label: array_of(file.get_tensor(one_member(path, label, [], list(shapes))), label) for label in labels}
        require(len(shapes[key]) in (1, 2), f"{key} of {path.name} is not a table.")
        step = max(1, BLOCK_BYTES // (8 * max(1, shapes[key][-1])))
        written = part.get_dtype()
        require(
            not written.startswith("C"),
            f"{key} of {path.name} must be a table of real numbers, not of {written}: write its real and imaginary "
            "parts as columns.",
        )
        single = written in ("F32", "F16", "BF16", "I16", "I8", "U8", "BOOL") or written.startswith("F8")
        kind = torch.float32 if single else torch.float64
        blocks = (part[a : a + step].to(kind).numpy() for a in range(0, rows, step))
        size = rows * shapes[key][-1] * (4 if single else 8) if len(shapes[key]) == 2 else rows * 8
        return Table(name, spool(blocks, name, size), (), named)


def parquet(path: Path, name: str, member: str, labels: Labels) -> Table:
    import pyarrow.parquet as pq

    _no_member(path, member)
    with pq.ParquetFile(path) as file:
        written = (file.schema_arrow.pandas_metadata or {}).get("index_columns", ())
        index = [c for c in written if isinstance(c, str) and c not in labels]  # a range is not a column
        require(
            not index,
            f"{path.name} has an index that pandas wrote, {', '.join(index)}, which is no output: join by it, "
            f"ids={', '.join(index)!r}, or write the file with index=False.",
        )
        return arrow_table(
            name, path.name, labels, file.schema_arrow, file.iter_batches(batch_size=2**14), file.metadata.num_rows
        )


def text(path: Path, name: str, member: str, labels: Labels) -> Table:
    """Comma, semicolon, tab or bar separated; a first line of text, or of 0, 1, 2, …, names the columns."""
    import pyarrow as pa
    from pyarrow import csv as texts

    _no_member(path, member)
    mark, columns, headed = text_layout(path)
    missing = [label for label in labels if label not in columns]
    require(not missing, f"{path.name} has no column {', '.join(missing)}: it has {', '.join(columns[:20])}.")
    kinds = {c: pa.string() if c in labels else pa.float64() for c in columns}
    try:
        stream = texts.open_csv(
            path,
            read_options=texts.ReadOptions(column_names=columns, skip_rows=int(headed)),
            parse_options=texts.ParseOptions(delimiter=mark, ignore_empty_lines=len(columns) > 1),
            convert_options=texts.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
        return arrow_table(name, path.name, labels, stream.schema, stream)
    except pa.ArrowInvalid as error:
        raise InputError(_told_of_cell(path, columns, str(error).splitlines()[0])) from error


def _told_of_cell(path: Path, columns: list[str], said: str) -> str:
    """What the reader of text says of a cell that is no number, in our words."""
    found = re.search(r"column #(\d+)(?:: Row #(\d+))?: CSV conversion error to \w+: invalid value '(.*?)'", said)
    if found is None:
        return f"{path.name} is not a table of numbers ({said[:160]}): give every line the same columns."
    column, value = columns[int(found[1])], found[3][:40]
    if re.fullmatch(r"[-+]?\d+,\d+", value):
        return f"{path.name} has decimal commas, such as {value!r}: write decimal points."
    return (
        f"column {column} of {path.name} has {value!r} where a number is due: correct it, name the column as ids or "
        "groups, or leave it out."
    )


def text_layout(path: Path) -> tuple[str, list[str], bool]:
    """The separator of a text file, its columns, and whether its first line names them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            first = file.readline(2**20)
        except UnicodeDecodeError:
            raise InputError(f"{path.name} is not UTF-8 text: save it as UTF-8.") from None
    require(bool(first.strip()), f"{path.name} is empty: give at least one row.")
    mark = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=first.count)
    spaced = len(first.split()) > 1 and not first.count(mark) and all(map(_is_number, first.split()))
    require(not spaced, f"the columns of {path.name} are separated by spaces: separate them by commas.")
    fields = [f.strip() for f in next(csv.reader([first], delimiter=mark))]
    headed = _is_header(fields, path)
    columns = fields if headed else [str(i) for i in range(len(fields))]
    require(
        "" not in columns, f"a column of {path.name} has no name (an index that pandas wrote?): name it or drop it."
    )
    twice = sorted({c for c in columns if columns.count(c) > 1})
    require(not twice, f"{path.name} has the column {', '.join(twice)} more than once: rename it.")
    return mark, columns, headed


READERS: dict[str, Callable[[Path, str, str, Labels], Table]] = {
    ".npy": npy,
    ".npz": npz,
    ".safetensors": safetensors,
    ".parquet": parquet,
    ".csv": text,
    ".tsv": text,
}


def _safetensors_members(path: Path) -> dict[str, bool]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return {key: len(file.get_slice(key).get_shape()) == 2 for key in file.keys()}  # noqa: SIM118


def safetensors_arrays(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Some arrays of a file, in memory."""
    from safetensors import safe_open

    require_memory(path.stat().st_size, path.name)
    with safe_open(path, framework="pt") as file:
        return {key: array_of(file.get_tensor(key), key) for key in names}


MEMBERS: dict[str, Callable[[Path], dict[str, bool]]] = {".npz": npz_members, ".safetensors": _safetensors_members}


def _no_member(path: Path, member: str) -> None:
    require(not member, f"{path.name} holds one table: leave out ::{member}.")


def _is_header(fields: list[str], path: Path) -> bool:
    """Whether a first line names the columns: by text, or by the numbers 0, 1, 2, …, as pandas does."""
    numbered = len(fields) > 1 and fields == [str(i) for i in range(len(fields))]
    unsure = f"the first line of {path.name} (0, 1) may be names or numbers: give the columns names."
    require(not (numbered and len(fields) == 2), unsure)
    text = [f for f in fields if not _is_number(f)]
    gaps = [f for f in text if f.lower() in MISSING]
    require(
        not gaps or len(text) > len(gaps) or not any(_is_number(f) for f in fields),
        f"the first line of {path.name} has a missing value: remove that row, or give the columns names.",
    )
    return bool(text) or numbered


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field
