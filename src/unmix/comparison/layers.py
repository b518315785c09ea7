"""Layers of one model against layers of another, as a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64
from numpy import ndarray

from unmix.comparison.compare import measured, tables_of
from unmix.comparison.comparison import Pair
from unmix.comparison.export import cells
from unmix.comparison.likeness import likeness, most_like
from unmix.comparison.notes import gathered
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
    """One measure of every layer of a model (rows) with every layer of another (columns).

    Attributes
    ----------
    pairs : each layer of x with each of y, as `compare` gives them: the score, and what was seen of the rows.
    joins : how tables were joined by their index.
    """

    measure: Measure
    x: tuple[str, ...]
    y: tuple[str, ...]
    pairs: tuple[tuple[Pair, ...], ...]
    joins: tuple[str, ...] = ()

    @property
    def scores(self) -> tuple[tuple[Score | Refusal, ...], ...]:
        return tuple(tuple(pair.scores[0] for pair in row) for row in self.pairs)

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
        found = {name: most_like(scores) for name, scores in self._named().items()}
        return {name: best for name, best in found.items() if best is not None}

    @property
    def verdicts(self) -> dict[str, str]:
        """For each layer of x, which layer of y it is most like, in sentences that stand alone."""
        return {name: likeness(name, scores) for name, scores in self._named().items()}

    @property
    def verdict(self) -> str:
        """The verdicts, a line a layer of x."""
        return "\n".join(self.verdicts.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """How tables were joined, and what was seen of the rows: each note once, with the pairs that it is about."""
        named = zip(self.x, self.pairs, strict=True)
        seen = ((f"{x}, {y}", note) for x, row in named for y, p in zip(self.y, row, strict=True) for note in p.notes)
        return (*self.joins, *gathered(seen))

    def _named(self) -> dict[str, dict[str, Score | Refusal]]:
        return {x: dict(zip(self.y, row, strict=True)) for x, row in zip(self.x, self.scores, strict=True)}

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "measure": self.measure.name,
            "x": list(self.x),
            "y": list(self.y),
            "scores": [[p.scores[0].as_dict() | {"notes": list(p.notes)} for p in row] for row in self.pairs],
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
        """A line a pair of layers: score, interval, chance and p; notes; a verdict on each layer of x."""
        width = max(map(len, (*self.x, *self.y)))
        rows = (
            f"  {x:{width}}  {y:{width}}  {s}"
            for x, line in zip(self.x, self.scores, strict=True)
            for y, s in zip(self.y, line, strict=True)
        )
        return "\n".join([self.measure.name, *rows, *(f"  note: {note}" for note in self.notes), self.verdict])

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
    measure : one of `um.measures`.
    groups, time, blocks : how rows belong together, as in `compare`.
    folds, bootstraps, permutations, sample, folder, progress : as in `compare`.

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
    each = work([measure], **counts)
    rows: list[tuple[Pair, ...]] = []
    with meter(len(xs) * len(ys) * each, shown=progress) as (bar, task):
        for x in xs:
            line: list[Pair] = []
            for y in ys:
                bar.update(task, description=f"{x.name}, {y.name}")
                one, other = (
                    replace(t, name=f"{t.name} of the {which} model") for t, which in ((x, "first"), (y, "second"))
                )
                line.append(measured(one, other, store, lambda: bar.advance(task), groups=groups, **cut, **counts))
                bar.update(task, completed=(len(rows) * len(ys) + len(line)) * each)
            rows.append(tuple(line))
    names = tuple(t.name for t in xs), tuple(t.name for t in ys)
    return LayerComparison(measure, *names, tuple(rows), tuple(notes.values()))
