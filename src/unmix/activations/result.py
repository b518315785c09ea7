"""What was recorded: a table a layer, mapped from its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Shaped
from numpy import ndarray

from unmix.activations.folder import GROUPS, IDS, MODEL, State
from unmix.canonical import CanonicalModel
from unmix.errors import RunFolderError, require
from unmix.tables import read_labels


@dataclass(frozen=True)
class Activations(Mapping[str, ndarray]):
    """The tables of a finished recording by the names of their layers, none of them in memory.

    Attributes
    ----------
    folder : where the files are: `<layer>.npy`, `ids.txt`, perhaps `groups.txt` and `model.npz`.
    rows : the number of rows, the same for every layer.
    widths : of each layer.
    """

    folder: Path
    rows: int
    widths: dict[str, int]

    def __getitem__(self, layer: str) -> Float[ndarray, "rows width"]:
        if layer not in self.widths:
            raise KeyError(layer)
        return np.load(self.folder / f"{layer}.npy", mmap_mode="r", allow_pickle=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self.widths)

    def __len__(self) -> int:
        return len(self.widths)

    @property
    def ids(self) -> Shaped[ndarray, " rows"]:
        """The name of each row."""
        return read_labels(self.folder / IDS)

    @property
    def groups(self) -> Shaped[ndarray, " rows"] | None:
        """Of each token the input that it is of; None if each input is one row."""
        return read_labels(self.folder / GROUPS) if (self.folder / GROUPS).exists() else None

    def model(self, name: str | None = None) -> CanonicalModel:
        """f, g and bias, for `um.compare_models`; called like the folder if no name is given. f is read to memory."""
        path = self.folder / MODEL
        require(path.exists(), f"{self.folder} has no f and g: record with head=um.activations.head(model).")
        with np.load(path, allow_pickle=False) as there:
            return CanonicalModel(self["f"], there["g"], there.get("bias"), name or self.folder.name)

    def __repr__(self) -> str:
        widths = ", ".join(f"{name}: {width}" for name, width in self.widths.items())
        return f"Activations({self.folder}: {self.rows:,} rows; {widths})"


def load(folder: str | Path) -> Activations:
    """The activations that `record` wrote to a folder."""
    path = Path(folder)
    state = State.of(path)
    if not state.done:
        there = f"holds {state.rows:,} rows that are not all" if state.rows else "holds no activations"
        raise RunFolderError(f"{path} {there}: record them, with the same arguments and this folder.")
    for name, size in state.sizes.items():
        file = path / name
        if size and not (file.is_file() and file.stat().st_size == size):
            raise RunFolderError(f"{file} is damaged: delete {path} and record again, or choose another folder.")
    found = Activations(path, state.rows, state.widths)
    for name, width in found.widths.items():
        if _shape(path / f"{name}.npy") != (found.rows, width):
            raise RunFolderError(f"{path / name}.npy is damaged: delete {path} and record again.")
    return found


def _shape(file: Path) -> tuple[int, ...]:
    try:
        return tuple(np.load(file, mmap_mode="r", allow_pickle=False).shape)
    except Exception:  # numpy has many for a damaged header
        return ()
