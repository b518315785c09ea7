"""Rows that come once or packed, kept in a temporary file so that they can be mapped like any other."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from jaxtyping import Num
from numpy import ndarray

from unmix.errors import require
from unmix.tables.room import disk, require_disk, writing
from unmix.tables.table import as_rows


def spool(blocks: Iterable[Any], name: str, size: int = 0) -> Num[ndarray, "n k"]:
    """Write blocks of rows one after the other to an unnamed temporary file, and map it.

    Parameters
    ----------
    size : how many bytes they say that they will be, which are refused before the first is read if there is no room;
        what becomes larger is refused where the room ends.

    Examples
    --------
    >>> spool((np.full((2, 3), i) for i in range(4)), "counts").shape
    (8, 3)
    """
    kind: np.dtype[Any] | None = None
    width = rows = written = 0
    room = disk()
    require_disk(size, name, room)
    with tempfile.TemporaryFile(prefix="unmix-") as file:
        for block in blocks:
            if np.ndim(block) > 0 and len(block) == 0:
                continue
            part = as_rows(block, name)
            if kind is None:
                kind, width = (part.dtype if part.dtype == np.float32 else np.dtype(np.float64)), part.shape[1]
            require(
                part.shape[1] == width,
                f"{name} has a block of {part.shape[1]} columns after blocks of {width}: give blocks of equal width.",
            )
            narrowed = kind == np.float32 and part.dtype not in (np.float32, np.float16)
            require(not narrowed, f"{name} has blocks of float32 and then of {part.dtype}: give blocks of one kind.")
            part = np.ascontiguousarray(part, kind)
            written += part.nbytes
            require_disk(written, name, room)
            with writing(name):
                file.write(part.data)
            rows += len(part)
        require(rows > 0, f"{name} is empty: give at least one row.")
        with writing(name):
            file.flush()
        # The map lives on after the file is gone.
        return np.memmap(cast(Any, file), kind or np.float64, "r", shape=(rows, width))
