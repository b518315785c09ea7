"""Which jobs fill which cells of an exhibit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unmix.configuration import from_config, to_config
from unmix.errors import InputError, require
from unmix.papers.cell import Cell, Run
from unmix.papers.descriptions import KNOWN
from unmix.papers.effort import Effort
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.reproduction import Reproduction
from unmix.sweeps import Job, JobStore
from unmix.sweeps.job import key


class Plan:
    """What is to be run of an exhibit, and what there is.

    Parameters
    ----------
    effort, recipe : what trains a row, and its name.
    store : where runs are kept.
    earlier : an outcome of the same recipe. Its runs are not repeated, and those of settings that the recipe or the
        model had before stay in their cells until there are new ones.
    """

    def __init__(self, exhibit: Exhibit, effort: Effort, recipe: str, store: JobStore, earlier: Reproduction) -> None:
        self.exhibit, self.effort, self.recipe, self.store = exhibit, effort, recipe, store
        self.earlier = earlier
        self.known = {key(run.job): run.result for run in earlier.runs.values() if run.job is not None}

    def jobs(self, numbers: set[int], seeds: set[int]) -> list[Job]:
        """What is not known yet, seed by seed, so that every row has a number early; the official cost last."""
        rows = [row for row in self.exhibit.rows if row.number in numbers]
        columns = self.exhibit.columns
        found = [column.job(row, self.effort, seed) for seed in sorted(seeds) for row in rows for column in columns]
        found = [job for job in found if key(job) not in self.known]
        found += [job for row in rows for column in columns for job in self._official(row, column, seeds)]
        for job in {key(job): job for job in found}.values():
            _require_readable(job)
        return found

    def _official(self, row: Row, column: Column, seeds: set[int]) -> list[Job]:
        """The official cost, unless it is known; where there are new runs, that of this folder, on their machine.

        One that was measured in another way than today is not known.
        """
        if column.official is None:
            return []
        new = any(key(column.job(row, self.effort, seed)) not in self.known for seed in seeds)
        job, before = column.official(row)[0], self._before(row, column)
        known = before is not None and before.official is not None and before.official.get("job") == to_config(job)
        return [] if known and not new else [job]

    def outcome(self, numbers: set[int], seeds: set[int]) -> Reproduction:
        """What there is of these rows and seeds."""
        cells = {
            row.number: {column.title: self._cell(row, column, seeds) for column in self.exhibit.columns}
            for row in self.exhibit.rows
            if row.number in numbers
        }
        shown = [row for row in self.exhibit.rows if row.number in numbers]
        ticks = {row.number: self.exhibit.matches_theory(row, self.effort) for row in shown}
        return Reproduction(self.exhibit, cells, self.recipe, self._uncosted(numbers), ticks)

    def _cell(self, row: Row, column: Column, seeds: set[int]) -> Cell:
        runs, failures, before = [], {}, self._before(row, column)
        told = before.failures if before and not before.outdated else {}
        for seed in sorted(seeds):
            job = column.job(row, self.effort, seed)
            result = self.store.result(job) or self.known.get(key(job))
            failure = self.store.failure(job) or told.get(seed)
            if result is not None:
                runs.append(Run(key(job), seed, result))
            elif failure is not None:
                failures[seed] = failure
        if before and before.outdated and not runs and self._same_world(before):
            return replace(before, failures=failures)
        official = before.official if before else None
        if column.official:
            job, steps = column.official(row)
            found = self.store.result(job)
            official = {**found, "steps": steps} if found else official
        return Cell(row, column, tuple(runs), failures, official)

    def _before(self, row: Row, column: Column) -> Cell | None:
        cell = self.earlier.cells.get(row.number, {}).get(column.title)
        return cell and cell.judged(self.effort)

    def _same_world(self, cell: Cell) -> bool:
        """Whether runs of other settings are at least of the process that the row has now."""
        jobs = [cell.column.job(cell.row, self.effort, run.seed) for run in cell.runs]
        return all(_process(r.result["job"]) == _process(to_config(j)) for r, j in zip(cell.runs, jobs, strict=True))

    def _uncosted(self, numbers: set[int]) -> dict[str, str]:
        rows = [row for row in self.exhibit.rows if row.number in numbers]
        official = [column.official(row)[0] for row in rows for column in self.exhibit.columns if column.official]
        told = self.earlier.uncosted
        why = {str(j): self.store.failure(j) or told.get(str(j)) for j in official if self.store.result(j) is None}
        return {name: reason for name, reason in why.items() if reason is not None}


def _process(job: Mapping[str, Any]) -> Any:
    """What a job's description says of its process, with the options that it left out; None where it has none."""
    try:
        return to_config(from_config(job["process"], KNOWN))
    except (InputError, KeyError, TypeError):
        return None


def _require_readable(job: Job) -> None:
    """Refuse what a worker could not read from a file, before anything is run."""
    try:
        same = key(from_config(to_config(job), KNOWN)) == key(job)
    except InputError:
        same = False
    require(
        same,
        f"{type(job).__name__} cannot be run in a worker: it and all that it names must be frozen dataclasses of plain "
        "values that unmix itself defines.",
    )
