"""Ids and groups from files of their own: one label a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables.table import NUMBERS
from unmix.tables.tensor import array_of

GAPS = "nan", "NaT", "<NA>"


def require_labels(labels: Shaped[ndarray, ...], name: str) -> None:
    """Refuse labels of which some are missing (None, NaN, empty): they would all be one."""
    gaps = sum(is_gap(v) for v in labels.ravel().tolist())
    require(not gaps, f"{name} are missing in {gaps} rows: fill them in, or leave out those rows.")


def is_gap(value: Any) -> bool:
    """Whether a label stands for a missing one: None, NaN, NaT, pandas' NA, no letter."""
    if value is None or isinstance(value, (str, float)):
        return value is None or value == "" or value != value
    return not isinstance(value, int) and str(value) in GAPS


def read_labels(path: str | Path) -> Shaped[ndarray, " n"]:
    """One label a row, of a .npy file or of a text file with one label a line (no header)."""
    file = Path(path)
    require(file.is_file(), f"there is no file {file}.")
    try:
        if file.suffix.lower() == ".npy":
            labels: ndarray = np.lib.format.open_memmap(file, mode="r")  # a header may promise more than there is
        else:
            labels = np.array(file.read_text(encoding="utf-8-sig").splitlines())
    except Exception as error:  # numpy has many for a damaged header
        raise InputError(
            f"{file.name} is not a list of labels: give a .npy or a text file, one label a row."
        ) from error
    require(labels.ndim == 1 and len(labels) > 0, f"{file.name} must hold one label a row, not {labels.shape}.")
    require(
        labels.dtype.kind in NUMBERS + "US", f"{file.name} holds {labels.dtype}: give words or real numbers, one a row."
    )
    return np.array(labels)


def labels_of(given: Any, name: str) -> Shaped[ndarray, ...]:
    """Labels from a tensor, an array, a series or a list."""
    try:
        return array_of(given, name) if isinstance(given, torch.Tensor) else np.asarray(given)
    except ValueError as error:
        raise InputError(f"{name} must be one label a row, not lists of different lengths.") from error
