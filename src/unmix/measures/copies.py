"""Rows and columns that are there twice."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int64, Num
from numpy import ndarray

from unmix.moments.accumulate import workers
from unmix.moments.chunks import block_rows

START = np.uint64(0xCBF29CE484222325)
SOME_ROWS, FEW_VALUES = 1000, 16


def copied_rows(x: Num[ndarray, "n k"], y: Num[ndarray, "n d"], group: Int64[ndarray, " n"]) -> int:
    """How many rows are a copy, in x and in y, of a row of another group: held out, they have been seen.

    Examples
    --------
    >>> x = np.arange(40.0)[:, None] % 38
    >>> copied_rows(x, x, np.arange(40)), copied_rows(x, x, np.arange(40) % 38)
    (2, 0)
    """
    from unmix.kernels.fingerprint import fingerprint  # numba is slow to import

    if all(len(np.unique(column)) <= FEW_VALUES for column in np.asarray(x[:SOME_ROWS]).T):
        return 0  # a table of codes: equal rows are no copies
    marks = np.full(len(x), START)
    step = block_rows(x.shape[1] + y.shape[1])

    def mark(start: int) -> None:
        for table in (x, y):
            fingerprint(_bits(table[start : start + step]), marks[start : start + step])

    with workers() as threads:
        list(threads.pool.map(mark, range(0, len(x), step)))
    order = np.lexsort((group, marks))
    same = marks[order][1:] == marks[order][:-1]
    return int((same & (group[order][1:] != group[order][:-1])).sum())


def copied_columns(gram: Float64[ndarray, "k k"]) -> list[tuple[int, int]]:
    """Pairs of columns that are one another up to a scale and an offset, by their centred second moments.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(9, 2))
    >>> x = np.column_stack([x, 5 - x[:, 0]]) - x.mean(0)[[0, 1, 0]] * [1, 1, -1] - [0, 0, 5]
    >>> copied_columns(x.T @ x)
    [(0, 2)]
    """
    size = np.sqrt(np.diag(gram))
    unit = gram / np.outer(size, size)
    first, second = np.nonzero(np.triu(np.abs(unit) > 1 - 1e-12, 1))
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _bits(block: Num[ndarray, "m k"]) -> ndarray:
    """The rows as unsigned words."""
    kind = np.float32 if block.dtype == np.float32 else np.float64
    return np.ascontiguousarray(block, kind).view(np.uint32 if kind is np.float32 else np.uint64)
