"""Layers of one model against layers of another, as a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64
from numpy import ndarray

from unmix.comparison.compare import measured, tables_of
from unmix.comparison.export import cells
from unmix.comparison.store import PairStore
from unmix.errors import require
from unmix.files import write_atomically, write_json
from unmix.measures.asked import check_counts, check_measures, work
from unmix.measures.cka import CKA
from unmix.measures.measure import Measure
from unmix.measures.score import FIELDS, Refusal, Score
from unmix.meter import meter
from unmix.report.drawing import png
from unmix.sheets import sheet
from unmix.tables import in_one_order, require_no_ids


@dataclass(frozen=True, eq=False, repr=False)
class LayerComparison:
    """One measure of every layer of a model (rows) with every layer of another (columns)."""

    measure: Measure
    x: tuple[str, ...]
    y: tuple[str, ...]
    scores: tuple[tuple[Score | Refusal, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> Float64[ndarray, "r c"]:
        """The scores; NaN where the measure was refused."""
        return np.array([[s.value if isinstance(s, Score) else np.nan for s in row] for row in self.scores])

    @property
    def above_chance(self) -> Bool[ndarray, "r c"]:
        return np.array([[isinstance(s, Score) and s.above_chance for s in row] for row in self.scores])

    @property
    def best(self) -> dict[str, str]:
        """For each layer of x that is above chance with any layer of y, the one that is most like it."""
        values = np.where(self.above_chance, self.values, -np.inf)
        found = zip(self.x, values.argmax(1), values.max(1), strict=True)
        return {name: self.y[j] for name, j, value in found if value > -np.inf}

    @property
    def verdict(self) -> str:
        """One sentence: which layers are alike, and whether any pair is above chance."""
        if not self.above_chance.any():
            caveat = next(
                (f": {s.caveat}" for row in self.scores for s in row if isinstance(s, Score) and s.caveat), ""
            )
            return f"No pair of layers is above chance by {self.measure.name}{caveat}."
        pairs = "; ".join(f"{x} is most like {y}" for x, y in self.best.items())
        return f"By {self.measure.name}: {pairs}."

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "measure": self.measure.name,
            "x": list(self.x),
            "y": list(self.y),
            "scores": [[s.as_dict() for s in row] for row in self.scores],
            "verdict": self.verdict,
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write .json (everything), .csv (a line a pair of layers) or .png (the heat map)."""
        file = Path(path)
        if file.suffix == ".json":
            write_json(file, self.as_dict())
        elif file.suffix == ".png":
            from unmix.comparison.figure import layer_map

            write_atomically(file, png(layer_map(self)))
        else:
            require(file.suffix == ".csv", f"layers are saved as .json, .csv or .png, not as {file.name}.")
            named = zip(self.x, self.scores, strict=True)
            rows = ([x, y, *cells(s)] for x, line in named for y, s in zip(self.y, line, strict=True))
            write_atomically(file, sheet(["x", "y", *FIELDS, "refused"], rows).encode())

    def __str__(self) -> str:
        """A line a pair of layers: score, interval, chance and p."""
        width = max(map(len, (*self.x, *self.y)))
        rows = (
            f"  {x:{width}}  {y:{width}}  {s}"
            for x, line in zip(self.x, self.scores, strict=True)
            for y, s in zip(self.y, line, strict=True)
        )
        return "\n".join([self.measure.name, *rows, self.verdict, *self.notes])

    def __repr__(self) -> str:
        return f"LayerComparison({self.measure.name}; {len(self.x)} by {len(self.y)} layers)"


def compare_layers(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    *,
    measure: Measure = CKA(),  # noqa: B008  # frozen
    groups: Any = None,
    time: bool = False,
    blocks: int | None = None,
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    sample: int | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: bool = False,
) -> LayerComparison:
    """Compare every layer of a model with every layer of another (or of itself), by one measure.

    Parameters
    ----------
    first, second : names of layers to tables of the same rows, as `compare` takes them.
    groups, time, blocks : how rows belong together, as in `compare`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 300, 4))
    >>> compare_layers({"one": a, "two": b}, {"uno": 3 * a, "due": -b}).best
    {'one': 'uno', 'two': 'due'}
    """
    require(len(first) > 0 and len(second) > 0, "compare_layers needs at least one layer of each model.")
    titles = [
        f"{name} of the {which} model" for which, model in (("first", first), ("second", second)) for name in model
    ]
    sources = [*first.values(), *second.values()]
    require_no_ids(sources, titles, "leave it out, or make it the index")
    (*sources, groups), notes = in_one_order([*sources, groups], [*titles, "groups"], time or blocks is not None)
    xs, ys = (
        tables_of(some, list(map(str, model)))
        for some, model in ((sources[: len(first)], first), (sources[len(first) :], second))
    )
    check_measures([measure])
    counts = {"bootstraps": bootstraps, "permutations": permutations}
    check_counts(**counts)
    cut: dict[str, Any] = {"time": time, "blocks": blocks, "folds": folds, "sample": sample, "seed": seed}
    store = PairStore.at(folder, (measure,), cut | counts, groups)
    rows: list[tuple[Score | Refusal, ...]] = []
    with meter(len(xs) * len(ys) * work([measure], **counts), shown=progress) as (bar, task):
        for x in xs:
            line = []
            for y in ys:
                bar.update(task, description=f"{x.name}, {y.name}")
                line.append(measured(x, y, store, lambda: bar.advance(task), groups=groups, **cut, **counts).scores[0])
                bar.update(task, completed=(len(rows) * len(ys) + len(line)) * work([measure], **counts))
            rows.append(tuple(line))
    names = tuple(t.name for t in xs), tuple(t.name for t in ys)
    return LayerComparison(measure, *names, tuple(rows), tuple(notes.values()))
