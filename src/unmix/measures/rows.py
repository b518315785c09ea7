"""The door of the measures: two tables of paired rows, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int
from numpy import ndarray

from unmix.errors import InputError, require

LARGE = 1e70  # fourth powers must fit in float64


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Paired rows in a train and a test part, float64: which rows are the test, which columns of x were kept."""

    train_x: Float64[ndarray, "n k"]
    train_y: Float64[ndarray, "n d"]
    test_x: Float64[ndarray, "m k"]
    test_y: Float64[ndarray, "m d"]
    test_rows: Int[ndarray, " m"]
    kept: Int[ndarray, " k"]
    notes: tuple[str, ...]


def split_rows(x: Any, y: Any, seed: int = 0) -> SplitRows:
    """Check x (predictors) and y (targets), and put a random half of the rows in each part.

    Refused: non-finite values, different lengths, fewer train rows than columns + 2, constant targets.
    Constant predictors are dropped with a note.
    """
    require(isinstance(seed, int) and seed >= 0, f"seed must be a whole number of at least 0, not {seed!r}.")
    x, y = as_matrix(x, "the embedding"), as_matrix(y, "the truth")
    require(
        len(x) == len(y),
        f"the embedding has {len(x)} rows and the truth {len(y)}: give the same rows in the same order.",
    )
    half, need = len(x) // 2, max(x.shape[1], y.shape[1]) + 2
    require(
        half >= need,
        f"{len(x)} rows leave {half} to fit {max(x.shape[1], y.shape[1])} columns on: give at least {2 * need} rows.",
    )
    order = np.random.default_rng(seed).permutation(len(x))
    train, test = order[:half], order[half:]
    still_y = _constant(y[train]) | _constant(y[test])
    require(
        not still_y.any(),
        f"column {_listed(still_y)} of the truth is constant, so nothing can recover it: leave it out.",
    )
    still_x = _constant(x[train]) | _constant(x[test])
    require(not still_x.all(), "every column of the embedding is constant (a collapsed encoder?): nothing to measure.")
    notes = (f"dropped constant column {_listed(still_x)} of the embedding",) if still_x.any() else ()
    kept = np.flatnonzero(~still_x)
    x = x[:, kept]
    for table, name in ((x, "the embedding"), (y, "the truth")):
        spread = np.abs(table).max(0)
        require(
            bool(((spread < LARGE) & (np.ptp(table, axis=0) > 1 / LARGE)).all()),
            f"{name} has a column too large or too small for float64: rescale it.",
        )
    return SplitRows(x[train], y[train], x[test], y[test], test, kept, notes)


def _constant(table: Float64[ndarray, "n k"]) -> Bool[ndarray, " k"]:
    return np.ptp(table, axis=0) == 0


def _listed(flags: Bool[ndarray, " k"]) -> str:
    return ", ".join(map(str, np.flatnonzero(flags)))


def as_matrix(values: Any, name: str) -> Float64[ndarray, "n k"]:
    """A table of finite float64 numbers from a tensor, an array or nested lists."""
    try:
        if isinstance(values, torch.Tensor):
            values = values.detach().cpu()
            values = (values if values.is_complex() else values.double()).numpy()  # numpy has no bfloat16
        table = np.asarray(values)
        real = not np.iscomplexobj(table) and not np.ma.isMaskedArray(values)
        table = np.asarray(table, np.float64) if real else table
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a table of numbers; convert or leave out what is not a number.") from None
    require(
        real, f"{name} must be a table of real numbers without a mask: fill or leave out what is masked or complex."
    )
    if table.ndim == 1:
        table = table[:, None]
    require(table.ndim == 2, f"{name} must have two axes (rows, columns), not {table.ndim}: reshape it.")
    require(table.size > 0, f"{name} is empty: give at least one row and one column.")
    bad = np.count_nonzero(~np.isfinite(table))
    require(bad == 0, f"{name} has {bad} values that are NaN or infinite: remove those rows first.")
    return table
