"""Whether the files of a folder hold what is recorded into it now: of the same inputs, by the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import nn

from unmix.activations.folder import State
from unmix.activations.growing import npy_start
from unmix.errors import RunFolderError
from unmix.files import told_about


def require_same_inputs(same: bool, folder: Path) -> None:
    if not same:
        raise RunFolderError(
            f"{folder} holds activations for other inputs (or inputs that are drawn anew each time): "
            "choose another folder, or delete this one."
        )


def require_same_rows(
    found: dict[str, Float[ndarray, "rows _"]], model: nn.Module, folder: Path, state: State, kind: np.dtype[Any]
) -> None:
    """Refuse a model whose first rows are not those in the files: a fingerprint knows neither code nor attributes."""
    kinds = {p.dtype for p in model.parameters() if p.is_floating_point()} or {torch.float32}  # as `run` has it
    tolerance = max(torch.finfo(k).eps for k in kinds | {getattr(torch, kind.name)}) ** 0.5
    for name, rows in found.items():
        same = rows.shape[1] == state.widths.get(name) and len(rows) <= state.rows
        if same:
            there = _stored(folder, name, rows.shape, kind).astype(np.float64)
            same = np.allclose(rows.astype(np.float64), there, tolerance, tolerance * np.abs(there).max(initial=0))
        if not same:
            raise RunFolderError(
                f"{folder} holds other rows of layer {name} (the model's code, its attributes or call have changed, or "
                "it draws anew each time): choose another folder, or delete this one."
            )


def _stored(folder: Path, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> Float[ndarray, "rows width"]:
    """The first rows of a table, finished or not."""
    path = folder / f"{name}.npy"
    part = path.with_name(path.name + ".part")
    path = part if part.exists() else path
    start, count = len(npy_start(0, shape[1], kind)), shape[0] * shape[1]
    if not path.exists() or path.stat().st_size < start + count * kind.itemsize:
        raise RunFolderError(f"{path} is damaged: choose another folder, or delete this one.")
    with told_about(path):
        return np.fromfile(path, kind, count, offset=start).reshape(shape)
