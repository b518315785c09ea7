"""The verb `reproduce`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from unmix.errors import require
from unmix.files import told_about
from unmix.papers.effort import Effort, effort_named
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.names import exhibit_named
from unmix.papers.reproduction import FORMATS, Cell, Reproduction, Run
from unmix.sweeps import Job, JobStore, Pool
from unmix.sweeps.job import key

FOLDER, POLL = "runs/reproduce", 0.25
Watch = Callable[[Reproduction, Pool, Sequence[Job]], None]


def reproduce(
    exhibit: str | Exhibit,
    *,
    rows: Iterable[int] | None = None,
    seeds: int | Iterable[int] = 3,
    recipe: str | Effort = "fast",
    workers: int | None = None,
    folder: str | Path = FOLDER,
    watch: Watch | None = None,
) -> Reproduction:
    """Run a table or figure of a paper again: published next to obtained.

    Every run is a process of its own with one thread. A run that was finished in this folder before, also for another
    table, is read back; one that was stopped, even by kill -9, goes on; one that failed before is tried again.

    Parameters
    ----------
    exhibit : its name, such as "zimmermann2021/table1", or one of your own.
    rows : their numbers; None is all of them.
    seeds : how many, from 0 on, or which.
    recipe : "fast", "paper" (days a run), or a function of (process, model) that gives the model to train and a recipe.
    workers : runs at a time; None is as many as there are cores.
    folder : keeps the runs, and the outcome as <exhibit>.json, .csv, .tex, .md, .png and .html.
    watch : called a few times a second with what there is so far, the pool, and the jobs that ended just now.

    Examples
    --------
    >>> import unmix as um
    >>> um.reproduce("zimmermann2021/table9")
    Traceback (most recent call last):
    unmix.errors.InputError: there is no 'zimmermann2021/table9' to reproduce: choose from ...
    """
    asked = exhibit_named(exhibit) if isinstance(exhibit, str) else exhibit
    numbers = [row.number for row in asked.rows] if rows is None else sorted(set(rows))
    chosen = [asked.row(number) for number in numbers]
    which = list(range(seeds)) if isinstance(seeds, int) else sorted(set(seeds))
    require(bool(chosen and which), "there is nothing to run: ask for at least one row and one seed.")
    effort, named = effort_named(recipe)

    plan = _Plan(asked, chosen, which, effort, named, JobStore(Path(folder) / "jobs"))
    found = plan.outcome()
    with Pool(plan.jobs, plan.store, workers) as pool:
        while pool.busy:
            ended = list(pool.finished())
            if ended:
                found = plan.outcome()
            if watch is not None:
                watch(found, pool, ended)
            time.sleep(POLL if pool.running else 0)
    target = Path(folder) / asked.name
    with told_about(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in FORMATS:
        found.save(target.with_name(target.name + suffix))
    return found


class _Plan:
    """Which jobs fill which cells."""

    def __init__(
        self, exhibit: Exhibit, rows: list[Row], seeds: list[int], effort: Effort, recipe: str, store: JobStore
    ) -> None:
        self.exhibit, self.rows, self.seeds, self.recipe, self.store = exhibit, rows, seeds, recipe, store
        self.cells: dict[tuple[int, str], dict[int, Job]] = {}
        self.official: dict[tuple[int, str], tuple[Job, int]] = {}
        for row in rows:
            for column in exhibit.columns:
                self.cells[row.number, column.title] = {seed: column.job(row, effort, seed) for seed in seeds}
                if column.official is not None:
                    self.official[row.number, column.title] = column.official(row)

    @property
    def jobs(self) -> list[Job]:
        """Seed by seed, so that every row has a number early; the official cost last."""
        by_seed = [job for seed in self.seeds for jobs in self.cells.values() for s, job in jobs.items() if s == seed]
        return list(dict.fromkeys([*by_seed, *(job for job, _ in self.official.values())]))

    def outcome(self) -> Reproduction:
        """What the store holds of it."""
        cells = {row.number: {c.title: self._cell(row, c) for c in self.exhibit.columns} for row in self.rows}
        return Reproduction(self.exhibit, cells, self.recipe)

    def _cell(self, row: Row, column: Column) -> Cell:
        runs, failures = [], {}
        for seed, job in self.cells[row.number, column.title].items():
            result, failure = self.store.result(job), self.store.failure(job)
            if result is not None:
                runs.append(Run(key(job), seed, result))
            elif failure is not None:
                failures[seed] = failure
        official = None
        if (row.number, column.title) in self.official:
            job, steps = self.official[row.number, column.title]
            found = self.store.result(job)
            official = found and {**found, "steps": steps}
        return Cell(row, column, tuple(runs), failures, official)
