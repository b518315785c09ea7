"""Ids and groups from files of their own: one label a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from unmix.errors import InputError, require


def require_labels(labels: Shaped[ndarray, ...], name: str) -> None:
    """Refuse labels of which some are missing (None, NaN, empty): they would all be one."""
    gaps = [v for v in labels.ravel().tolist() if v is None or v == "" or v != v]
    require(not gaps, f"{name} are missing in {len(gaps)} rows: fill them in, or leave out those rows.")


def read_labels(path: str | Path) -> Shaped[ndarray, " n"]:
    """One label a row, of a .npy file or of a text file with one label a line (no header)."""
    file = Path(path)
    require(file.is_file(), f"there is no file {file}.")
    try:
        if file.suffix.lower() == ".npy":
            labels = np.load(file, allow_pickle=False)
        else:
            labels = np.array(file.read_text(encoding="utf-8-sig").splitlines())
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"{file.name} is not a list of labels: give a .npy or a text file, one label a row."
        ) from error
    require(labels.ndim == 1 and len(labels) > 0, f"{file.name} must hold one label a row, not {labels.shape}.")
    return labels
