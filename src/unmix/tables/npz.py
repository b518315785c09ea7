"""Archives of arrays, opened once and unpacked some rows at a time."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from unmix.errors import require
from unmix.tables.room import require_disk, require_memory, writing
from unmix.tables.spool import spool
from unmix.tables.table import NUMBERS, Table, as_rows

BLOCK_BYTES = 2**24


class Header(NamedTuple):
    """What an array in an archive says of itself; `fortran` if columns come first."""

    shape: tuple[int, ...]
    fortran: bool
    kind: np.dtype[Any]

    @property
    def table(self) -> bool:
        """Whether it is a table of numbers."""
        return self.kind.kind in NUMBERS and len(self.shape) == 2

    @property
    def size(self) -> int:
        """How many bytes it says that it has."""
        return prod(self.shape) * self.kind.itemsize


def npz(path: Path, name: str, member: str, labels: tuple[str, ...]) -> Table:
    with zipfile.ZipFile(path) as archive:
        there = _members(archive)
        tables = [] if member else [key for key, file in there.items() if _header(archive, file).table]
        key = one_member(path, member, tables, list(there))
        header = _header(archive, there[key])
        numbers = header.kind.kind in NUMBERS and len(header.shape) in (1, 2)
        require(numbers, f"{key} of {path.name} is not a table of numbers.")
        named = {label: _array(archive, there[one_member(path, label, [], list(there))], label) for label in labels}
        if header.fortran and header.table:
            return Table(name, as_rows(_mapped(archive, there[key], name), name), (), named)
        size = prod(header.shape) * (4 if header.kind == np.float32 else 8)
        return Table(name, spool(_rows(archive, there[key]), name, size), (), named)


def npz_members(path: Path) -> dict[str, bool]:
    """The arrays of an archive: name → whether it is a table."""
    with zipfile.ZipFile(path) as archive:
        return {key: _header(archive, file).table for key, file in _members(archive).items()}


def npz_arrays(path: Path, names: Sequence[str]) -> dict[str, Shaped[ndarray, ...]]:
    """Some arrays of an archive, in memory."""
    with zipfile.ZipFile(path) as archive:
        there = _members(archive)
        require_memory(sum(_header(archive, there[key]).size for key in names), path.name)
        return {key: _array(archive, there[key], key) for key in names}


def one_member(path: Path, member: str, tables: list[str], there: list[str]) -> str:
    """The member that is asked for, or the only table."""
    listed = ", ".join(there[:20])
    if member:
        require(member in there, f"{path.name} has no {member}: it has {listed}.")
        return member
    require(len(tables) == 1, f"{path.name} has {len(tables)} tables ({listed}): name one, {path.name}::NAME.")
    return tables[0]


def _members(archive: zipfile.ZipFile) -> dict[str, str]:
    """The files of an archive by the names of their arrays."""
    return {info.filename.removesuffix(".npy"): info.filename for info in archive.infolist()}


def _header(archive: zipfile.ZipFile, file: str) -> Header:
    with archive.open(file) as stream:
        return _told(stream)


def _told(stream: Any) -> Header:
    if np.lib.format.read_magic(stream) == (1, 0):
        return Header(*np.lib.format.read_array_header_1_0(stream))
    return Header(*np.lib.format.read_array_header_2_0(stream))


def _array(archive: zipfile.ZipFile, file: str, name: str) -> Shaped[ndarray, ...]:
    """A whole array."""
    require_memory(_header(archive, file).size, name)
    with archive.open(file) as stream:
        return np.lib.format.read_array(cast(Any, stream), allow_pickle=False)


def _rows(archive: zipfile.ZipFile, file: str) -> Iterator[Shaped[ndarray, "m k"]]:
    """An array of one or two axes, some rows at a time."""
    with archive.open(file) as stream:
        (rows, *rest), _, kind = _told(stream)
        width = prod(rest)
        step = max(1, BLOCK_BYTES // max(1, width * kind.itemsize))
        for a in range(0, rows, step):
            some = min(step, rows - a)
            yield np.frombuffer(stream.read(some * width * kind.itemsize), kind).reshape(some, width)


def _mapped(archive: zipfile.ZipFile, file: str, name: str) -> Shaped[ndarray, "n k"]:
    """A table whose columns come first, which cannot be read by rows: unpacked to a temporary file, and mapped."""
    with archive.open(file) as stream, tempfile.TemporaryFile(prefix="unmix-") as out:
        shape, _, kind = header = _told(stream)
        require_disk(header.size, name)
        left = header.size
        while left and (part := stream.read(min(left, BLOCK_BYTES))):
            left -= len(part)
            with writing(name):
                out.write(part)
                out.flush()
        require(not left, f"{name} ends before its last row: write it anew.")
        return np.memmap(cast(Any, out), kind, "r", shape=cast(Any, shape), order="F")
