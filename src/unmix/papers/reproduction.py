"""What came of an exhibit: published next to obtained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmix.errors import InputError, RunFolderError, require
from unmix.files import read_json, write_atomically, write_json
from unmix.papers.cell import Cell, Run
from unmix.papers.effort import NAMED
from unmix.papers.exhibit import Exhibit, Row

FORMATS = (".json", ".csv", ".tex", ".md", ".png", ".html")


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """An exhibit with what was obtained.

    Attributes
    ----------
    cells : by number of row, then by title of column; rows that were not asked for are not there.
    recipe : the name of the effort.
    uncosted : why the official cost could not be measured, by what was to be measured.
    as_trained : by number of row, whether the model that the recipe trains matches theory; unknown for rows that are
        not there.
    """

    exhibit: Exhibit
    cells: Mapping[int, Mapping[str, Cell]]
    recipe: str
    uncosted: Mapping[str, str] = field(default_factory=dict)
    as_trained: Mapping[int, bool] = field(default_factory=dict)

    def cell(self, row: int, column: str) -> Cell:
        try:
            return self.cells[row][column]
        except KeyError:
            raise InputError(f"{self.exhibit.name} has no cell in row {row}, column {column!r} here.") from None

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for row in self.exhibit.rows if row.number in self.cells)

    @property
    def outdated(self) -> bool:
        """Whether some cell is of settings that the recipe or the model had before."""
        return any(cell.outdated for columns in self.cells.values() for cell in columns.values())

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each run that failed."""
        return tuple(
            f"row {n}, {title}, seed {seed}: {why}"
            for n, columns in self.cells.items()
            for title, cell in columns.items()
            for seed, why in cell.failures.items()
        ) + tuple(f"the official cost of {what}: {why}" for what, why in self.uncosted.items())

    @property
    def runs(self) -> dict[str, Run]:
        """Every run once, by its name."""
        return {r.key: r for columns in self.cells.values() for cell in columns.values() for r in cell.runs}

    def as_dict(self) -> dict[str, Any]:
        """Everything, with the settings, versions and times of each run, for JSON; `read` reads it back."""
        rows = [
            {
                "row": row.number,
                **dict(zip(self.exhibit.heads, row.labels, strict=True)),
                "matches theory": self.exhibit.matches_theory(row),
                "matches theory as trained": self.as_trained.get(row.number),
                "cells": {title: cell.as_dict() for title, cell in self.cells[row.number].items()},
            }
            for row in self.rows
        ]
        runs = {name: dict(run.result) for name, run in self.runs.items()}
        about = {"exhibit": self.exhibit.name, "title": self.exhibit.title, "reference": self.exhibit.reference}
        return about | {"recipe": self.recipe, "rows": rows, "runs": runs, "uncosted": dict(self.uncosted)}

    def save(self, path: str | Path) -> None:
        """Write .json (everything), .csv, .tex or .md (the table), .png (the figure) or .html (a page with both)."""
        from unmix.papers import export, page  # they know this class

        file = Path(path)
        require(file.suffix in FORMATS, f"a reproduction is saved as {', '.join(FORMATS)}, not as {file.name}.")
        if file.suffix == ".json":
            write_json(file, self.as_dict())
        elif file.suffix == ".png":
            write_atomically(file, self.exhibit.picture(self)[0])
        else:
            texts = {".csv": export.csv, ".tex": export.latex, ".md": export.markdown, ".html": page.html}
            write_atomically(file, texts[file.suffix](self).encode())

    def __str__(self) -> str:
        from unmix.papers import export

        return export.markdown(self)

    def __repr__(self) -> str:
        return f"Reproduction({self.exhibit.name}, {len(self.cells)} rows, {len(self.runs)} runs)"


def read(path: str | Path, exhibit: Exhibit | None = None) -> Reproduction:
    """A reproduction from the .json that `Reproduction.save` wrote; an exhibit of your own must be given too.

    Cells whose runs are of other settings than a recipe of unmix has now say so (`Cell.outdated`). Rows and columns
    that the exhibit no longer has are left out, and cells of new columns are empty.
    """
    try:
        found = _read(read_json(Path(path)), exhibit)
        found.as_dict(), str(found)  # what cannot be said again is damaged too
        return found
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError):
        raise RunFolderError(f"{path} is no outcome of this version: move it away, or choose another folder.") from None


def _read(kept: dict[str, Any], exhibit: Exhibit | None) -> Reproduction:
    from unmix.papers.names import exhibit_named

    exhibit = exhibit or exhibit_named(kept["exhibit"])
    effort = NAMED.get(kept["recipe"])
    lines = {line["row"]: line["cells"] for line in kept["rows"]}
    cells: dict[int, dict[str, Cell]] = {}
    for row in exhibit.rows:
        for column in exhibit.columns if row.number in lines else ():
            cell, found = lines[row.number].get(column.title), Cell(row, column)
            if cell is not None:
                runs = tuple(Run(r["key"], r["seed"], kept["runs"][r["key"]]) for r in cell["runs"])
                failures = {int(seed): why for seed, why in cell["failures"].items()}
                found = Cell(row, column, runs, failures, cell["official"])
            cells.setdefault(row.number, {})[column.title] = found.judged(effort) if effort else found
    told = {line["row"]: line.get("matches theory as trained") for line in kept["rows"]}
    shown = [row for row in exhibit.rows if row.number in cells]
    ticks = {row.number: exhibit.matches_theory(row, effort) if effort else told[row.number] for row in shown}
    known = {number: tick for number, tick in ticks.items() if tick is not None}
    return Reproduction(exhibit, cells, kept["recipe"], kept["uncosted"], known)
