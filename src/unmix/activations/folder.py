"""The files of a recording: a .npy a layer, ids and groups, and how far it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from unmix.activations.growing import GrowingFile, npy_start
from unmix.activations.head import Head
from unmix.errors import RunFolderError, require
from unmix.files import read_json, replacing
from unmix.training.folder import RunFolder

STATE, IDS, GROUPS, MODEL = "activations.json", "ids.txt", "groups.txt", "model.npz"


@dataclass(frozen=True)
class State:
    """How far a recording is.

    Attributes
    ----------
    batches, rows : so far.
    inputs : the fingerprint of the inputs so far.
    widths : of each layer's table.
    sizes : of each file, in bytes: what is beyond them was not synced.
    """

    batches: int = 0
    rows: int = 0
    inputs: str = ""
    widths: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    done: bool = False

    @classmethod
    def of(cls, folder: Path) -> State:
        """As the folder says; a new one says nothing."""
        if not (folder / STATE).exists():
            return cls()
        try:
            found = cls(**read_json(folder / STATE))
        except TypeError:
            found = None
        if found is None or not found._whole:
            raise RunFolderError(f"{folder / STATE} is damaged: choose another folder, or delete this one.")
        return found

    @property
    def _whole(self) -> bool:
        """Whether everything is of the type that it should be, and every table a file of this folder."""
        if not (isinstance(self.widths, dict) and isinstance(self.sizes, dict)):
            return False
        counts = (self.batches, self.rows, *self.widths.values(), *self.sizes.values())
        fits = all(type(count) is int and 0 <= count < 2**63 for count in counts)
        tables = {f"{name}.npy" for name in self.widths}
        named = tables == {name for name in self.sizes if name.endswith(".npy")}
        inside = not any({"/", "\\"} & set(name) for name in tables)
        return fits and named and inside and isinstance(self.inputs, str) and isinstance(self.done, bool)


class Writer:
    """Appends the rows of each layer and their labels to the files of a folder."""

    def __init__(self, run: RunFolder, state: State, widths: dict[str, int], dtype: np.dtype[Any]) -> None:
        self._run, self._widths, self._dtype = run, state.widths or widths, dtype
        self._rows = state.rows
        starts = {f"{name}.npy": npy_start(0, width, dtype) for name, width in self._widths.items()}
        self._files = {
            name: GrowingFile(run.path / name, state.sizes.get(name, 0), start)
            for name, start in (starts | {IDS: b"", GROUPS: b""}).items()
        }

    def append(self, rows: dict[str, Float[ndarray, "n _"]], ids: list[str], groups: list[str] | None) -> None:
        for name, values in rows.items():
            require(
                values.shape[1] == self._widths[name],
                f"layer {name} gives {values.shape[1]} columns after {self._widths[name]}: for inputs of different "
                "lengths take Mean(), LastToken() or EachToken().",
            )
        for name, values in rows.items():
            self._files[f"{name}.npy"].append(np.ascontiguousarray(values).data)
        for file, labels in ((IDS, ids), (GROUPS, groups or [])):
            self._files[file].append("".join(f"{label}\n" for label in labels).encode())
        self._rows += len(ids)

    def checkpoint(self, batches: int, inputs: str) -> State:
        """Say how far the files are, after they are on the disk."""
        sizes = {name: file.sync() for name, file in self._files.items()}
        return self._said(State(batches, self._rows, inputs, self._widths, sizes))

    def finish(self, batches: int, inputs: str, head: Head | None) -> None:
        """Give the files their names, put f and g into one, and say that all is done."""
        state = self.checkpoint(batches, inputs)
        for name, width in self._widths.items():
            self._files[f"{name}.npy"].finish(npy_start(self._rows, width, self._dtype))
        for name in (IDS, GROUPS):
            self._files[name].finish()
        if not state.sizes[GROUPS]:
            (self._run.path / GROUPS).unlink()
        if head is not None:
            _write_model(self._run.path, head)
        self._said(replace(state, done=True))

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _said(self, state: State) -> State:
        self._run.write_json(STATE, asdict(state))
        return state


def _write_model(folder: Path, head: Head) -> None:
    """f, g and bias in one file, as `unmix compare --models` takes them; rows of f are copied some at a time."""
    arrays = {"f": np.load(folder / "f.npy", mmap_mode="r"), "g": head.g}
    if head.bias is not None:
        arrays["bias"] = head.bias
    with replacing(folder / MODEL) as file:
        np.savez(file, **arrays)
