"""Finished pairs kept in a folder, so that a comparison that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from unmix.comparison.comparison import Pair
from unmix.errors import RunFolderError
from unmix.files import read_json, told_about, write_atomically
from unmix.measures.ladder import Ladder
from unmix.measures.measure import Measure
from unmix.measures.score import FIELDS, Refusal, Score
from unmix.tables import Table

STEP = 2**14
REVISION = 4  # of the numbers: raise it when a measure's value changes, and kept pairs are measured anew


@dataclass(frozen=True)
class PairStore:
    """One file a pair, named by all that its numbers depend on: both tables, measures, settings and version.

    Attributes
    ----------
    folder : where, or None to keep nothing.
    settings : what else the numbers depend on, as plain values.
    """

    folder: Path | None
    measures: tuple[Measure, ...]
    settings: str

    @classmethod
    def at(
        cls, folder: str | Path | None, measures: tuple[Measure, ...], settings: dict[str, Any], groups: Any
    ) -> PairStore:
        """In a folder (or nowhere), for measures with settings on rows with these groups."""
        member = blake2b(repr(np.asarray(groups).tolist()).encode()).hexdigest()
        return cls(Path(folder) if folder is not None else None, measures, f"{REVISION} {settings} {member}")

    def path(self, x: Table, y: Table) -> Path | None:
        """The file of a pair."""
        if self.folder is None:
            return None
        content = [version("unmix"), self.settings, repr(self.measures), x.name, y.name, _digest(x), _digest(y)]
        return self.folder / "pairs" / f"{blake2b(json.dumps(content).encode(), digest_size=12).hexdigest()}.json"

    def kept(self, path: Path | None) -> Pair | None:
        """The pair in a file, if it is there and whole."""
        if path is None or not path.exists():
            return None
        try:
            found = _pair(read_json(path), self.measures)
            found.as_dict()  # what cannot be said again is damaged too
            return found
        except (RunFolderError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return None  # damaged: it is measured anew

    def keep(self, path: Path | None, pair: Pair) -> None:
        """Write a pair's file."""
        if path is not None:
            with told_about(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(pair.as_dict()).encode())


def _digest(table: Table) -> str:
    values, found = table.values, blake2b(digest_size=16)
    found.update(f"{values.shape} {values.dtype}".encode())
    for a in range(0, len(values), STEP):
        found.update(np.ascontiguousarray(values[a : a + STEP]).data)
    return found.hexdigest()


def _pair(kept: dict[str, Any], measures: Sequence[Measure]) -> Pair:
    """A pair from its dictionary; `TypeError` where a part is of another type than it was written with."""
    scores = tuple(_score(m, kept["scores"][m.name]) for m in measures)
    ladder, back = (_ladder(kept[name]) for name in ("ladder", "back"))
    _check(str, kept["x"], kept["y"], *kept["notes"])
    _check(int, kept["rows"], *kept["widths"])
    (x_width, y_width), (forth, reverse) = kept["widths"], kept["monotone"]
    _check(float | None, forth, reverse)
    notes = tuple(kept["notes"])
    return Pair(kept["x"], kept["y"], (x_width, y_width), kept["rows"], scores, ladder, notes, back, (forth, reverse))


def _score(measure: Measure, kept: dict[str, Any]) -> Score | Refusal:
    if "refused" in kept:
        _check(str, kept["refused"])
        return Refusal(measure, kept["refused"])
    kinds = get_type_hints(Score)
    for name in FIELDS:
        _check(kinds[name], kept[name])
    _check(float, *kept["profile"])
    return Score(measure, **{**kept, "profile": np.array(kept["profile"], float)})


def _ladder(kept: dict[str, Any] | None) -> Ladder | None:
    if kept is None:
        return None
    weakest = kept["weakest direction"] or {"r2": 0.0, "weights": []}
    _check(float, *kept["named"].values(), weakest["r2"], *weakest["weights"], *chain(*kept["not judged"]))
    return Ladder.read(kept)


def _check(kind: Any, *values: Any) -> None:
    """Refuse values that JSON did not give as this type, or one of these; a whole number will do as a fraction."""
    kinds = set(get_args(kind) or (kind,))
    kinds |= {int} if float in kinds else set()
    wrong = [value for value in values if type(value) not in kinds]
    if wrong:
        raise TypeError(f"{wrong[0]!r:.80} is no {kind}")
