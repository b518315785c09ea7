"""Archives of arrays, read some rows at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from unmix.errors import require
from unmix.tables.spool import spool
from unmix.tables.table import NUMBERS, Table, as_rows

BLOCK_BYTES = 2**24


def npz(path: Path, name: str, member: str, labels: tuple[str, ...]) -> Table:
    with zipfile.ZipFile(path) as archive:
        there = {info.filename.removesuffix(".npy"): info.filename for info in archive.infolist()}
        headers = {key: _header(archive, file) for key, file in there.items()}
        tables = [key for key, (shape, _, kind) in headers.items() if kind.kind in NUMBERS and len(shape) == 2]
        key = one_member(path, member, tables, list(there))
        shape, fortran, kind = headers[key]
        require(kind.kind in NUMBERS and len(shape) in (1, 2), f"{key} of {path.name} is not a table of numbers.")
        named = {label: np.load(path, allow_pickle=False)[one_member(path, label, [], list(there))] for label in labels}
        if fortran or len(shape) == 1:  # columns come first: it cannot be read by rows
            return Table(name, as_rows(np.load(path, allow_pickle=False)[key], name), (), named)
        return Table(name, spool(_rows(archive, there[key]), name), (), named)


def npz_members(path: Path) -> dict[str, bool]:
    """The arrays of an archive: name → whether it is a table."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            shape, _, kind = _header(archive, info.filename)
            found[info.filename.removesuffix(".npy")] = kind.kind in NUMBERS and len(shape) == 2
    return found


def one_member(path: Path, member: str, tables: list[str], there: list[str]) -> str:
    """The member that is asked for, or the only table."""
    listed = ", ".join(there[:20])
    if member:
        require(member in there, f"{path.name} has no {member}: it has {listed}.")
        return member
    require(len(tables) == 1, f"{path.name} has {len(tables)} tables ({listed}): name one, {path.name}::NAME.")
    return tables[0]


def _header(archive: zipfile.ZipFile, file: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and dtype of an array in an archive."""
    with archive.open(file) as stream:
        return _array_header(stream)


def _array_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    if np.lib.format.read_magic(stream) == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    return np.lib.format.read_array_header_2_0(stream)


def _rows(archive: zipfile.ZipFile, file: str) -> Iterator[Shaped[ndarray, "m k"]]:
    """An array in an archive, some rows at a time."""
    with archive.open(file) as stream:
        (rows, width), _, kind = _array_header(stream)
        step = max(1, BLOCK_BYTES // max(1, width * kind.itemsize))
        for a in range(0, rows, step):
            some = min(step, rows - a)
            yield np.frombuffer(stream.read(some * width * kind.itemsize), kind).reshape(some, width)
