"""What came of an exhibit: published next to obtained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, Literal

from unmix.errors import InputError, require
from unmix.files import read_json, write_atomically, write_json
from unmix.papers.exhibit import Column, Exhibit, Published, Row

Mark = Literal["reached", "near", "below"]
NEAR = 0.3  # points
FORMATS = (".json", ".csv", ".tex", ".md", ".png", ".html")


@dataclass(frozen=True)
class Run:
    """One finished job: its name in the store, its seed, and what it wrote."""

    key: str
    seed: int
    result: Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One row and column: what was published, and what was obtained from each seed.

    Attributes
    ----------
    values : the score of each run that has it, in percent if the column is.
    failures : why runs failed, by seed.
    official : what was measured of the official code on this machine: seconds a step, and its steps; None where it
        is not known.
    """

    row: Row
    column: Column
    runs: tuple[Run, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict)
    official: Mapping[str, Any] | None = None

    @property
    def published(self) -> Published | None:
        return self.row.published.get(self.column.title)

    @property
    def scored(self) -> tuple[Run, ...]:
        """The runs that have the score: not every score applies to every run."""
        return tuple(run for run in self.runs if self.column.score in run.result["scores"])

    @property
    def values(self) -> tuple[float, ...]:
        unit = 100 if self.column.percent else 1
        return tuple(unit * float(run.result["scores"][self.column.score]) for run in self.scored)

    @property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @property
    def std(self) -> float | None:
        """Over seeds, with n − 1 in the denominator; None for one seed."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def seconds(self) -> float | None:
        """Training time of a run, the median over seeds; None where nothing was trained."""
        spent = [float(run.result["seconds"]) for run in self.runs if "seconds" in run.result]
        return median(spent) if spent else None

    @property
    def official_seconds(self) -> float | None:
        """What the official code would need on this machine, at most."""
        return float(self.official["seconds_a_step"]) * int(self.official["steps"]) if self.official else None

    @property
    def ratio(self) -> float | None:
        """How many times longer the official code would need."""
        return self.official_seconds / self.seconds if self.official_seconds and self.seconds else None

    @property
    def mark(self) -> Mark | None:
        """At or above the published mean to its decimals, within 0.3 points below it, or lower; None without a goal."""
        if self.mean is None or self.published is None or not self.published.goal:
            return None
        short = round(self.published.mean - round(self.mean, self.published.digits), 2)
        return "reached" if short <= 0 else "near" if short <= NEAR else "below"

    def __str__(self) -> str:
        if self.mean is None:
            return "failed" if self.failures else "–"
        partial = f" ({len(self.runs)} of {len(self.runs) + len(self.failures)} seeds)" if self.failures else ""
        digits = 2 if self.column.percent else 3
        spread = f" ± {self.std:.{digits}f}" if self.std is not None else ""
        return f"{self.mean:.{digits}f}{spread}{partial}"

    def as_dict(self) -> dict[str, Any]:
        published = self.published and {"mean": self.published.mean, "std": self.published.std}
        return {
            "published": published,
            "obtained": {"mean": self.mean, "std": self.std, "values": list(self.values)},
            "mark": self.mark,
            "seconds": self.seconds,
            "official": self.official and dict(self.official),
            "ratio": self.ratio,
            "runs": [{"key": run.key, "seed": run.seed} for run in self.runs],
            "failures": {str(seed): why for seed, why in self.failures.items()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """An exhibit with what was obtained.

    Attributes
    ----------
    cells : by number of row, then by title of column; rows that were not asked for are not there.
    recipe : the name of the effort.
    uncosted : why the official cost could not be measured, by what was to be measured.
    """

    exhibit: Exhibit
    cells: Mapping[int, Mapping[str, Cell]]
    recipe: str
    uncosted: Mapping[str, str] = field(default_factory=dict)

    def cell(self, row: int, column: str) -> Cell:
        try:
            return self.cells[row][column]
        except KeyError:
            raise InputError(f"{self.exhibit.name} has no cell in row {row}, column {column!r} here.") from None

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for row in self.exhibit.rows if row.number in self.cells)

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
                "cells": {title: cell.as_dict() for title, cell in self.cells[row.number].items()},
            }
            for row in self.rows
        ]
        runs = {key: dict(run.result) for key, run in self.runs.items()}
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
    """A reproduction from the .json that `Reproduction.save` wrote; an exhibit of your own must be given too."""
    from unmix.papers.names import exhibit_named

    kept = read_json(Path(path))
    exhibit = exhibit or exhibit_named(kept["exhibit"])
    columns = {column.title: column for column in exhibit.columns}
    cells: dict[int, dict[str, Cell]] = {}
    for line in kept["rows"]:
        row = exhibit.row(line["row"])
        cells[row.number] = {}
        for title, cell in line["cells"].items():
            runs = tuple(Run(r["key"], r["seed"], kept["runs"][r["key"]]) for r in cell["runs"])
            failures = {int(seed): why for seed, why in cell["failures"].items()}
            cells[row.number][title] = Cell(row, columns[title], runs, failures, cell["official"])
    return Reproduction(exhibit, cells, kept["recipe"], kept["uncosted"])
