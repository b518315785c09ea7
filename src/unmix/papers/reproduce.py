"""The verb `reproduce`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from unmix.errors import require
from unmix.files import told_about
from unmix.lock import locked
from unmix.papers.effort import Effort, effort_named
from unmix.papers.exhibit import Exhibit
from unmix.papers.live import LiveTable
from unmix.papers.names import exhibit_named
from unmix.papers.plan import Plan
from unmix.papers.reproduction import FORMATS, Reproduction, read
from unmix.sweeps import JobStore, Pool
from unmix.sweeps.store import LOCK

FOLDER, POLL = "runs/reproduce", 0.25
SEEDS = (1, 2, 3)  # not the tuning seed


def reproduce(
    exhibit: str | Exhibit,
    *,
    rows: Iterable[int] | None = None,
    seeds: int | Iterable[int] = SEEDS,
    recipe: str | Effort = "fast",
    workers: int | None = None,
    folder: str | Path = FOLDER,
    progress: bool = True,
) -> Reproduction:
    """Run a table or figure of a paper again: published next to obtained.

    Every run is a process of its own with one thread. A run that was finished in this folder before, also for another
    table, is read back; one that was stopped, even by kill -9, goes on; one that failed before is tried again. Two
    calls at the same time share their runs.

    Parameters
    ----------
    exhibit : its name, such as "zimmermann2021/table1", or one of your own.
    rows : their numbers; None is all of them.
    seeds : how many, from 1 on, or which. Seed 0 is the tuning seed, on which recipes were chosen: it is kept apart,
        and is in no mean where other seeds are.
    recipe : "fast", "paper" (minutes to weeks a run), or a function of (process, model) that gives the model to train
        and a recipe.
    workers : runs at a time; None is as many as there are cores.
    folder : keeps the runs, and the outcome as <exhibit>.json, .csv, .tex, .md, .png and .html. These files also keep
        the rows and seeds of the same recipe that they held before. A run that the .json holds is not repeated. Where
        the recipe or a published model has changed since, a cell keeps its earlier runs, with a dagger, until
        it has new ones.
    progress : whether to show it on stderr.

    Examples
    --------
    >>> import unmix as um
    >>> um.reproduce("zimmermann2021/table9")
    Traceback (most recent call last):
    unmix.errors.InputError: there is no 'zimmermann2021/table9' to reproduce: choose from ...
    """
    asked = exhibit_named(exhibit) if isinstance(exhibit, str) else exhibit
    numbers = {row.number for row in asked.rows} if rows is None else _whole(rows, "rows")
    for number in numbers:
        asked.row(number)
    which = set(range(1, seeds + 1)) if isinstance(seeds, int) else _whole(seeds, "seeds")
    require(bool(numbers and which), "there is nothing to run: ask for at least one row and one seed.")
    target = Path(folder) / asked.name
    effort, name = effort_named(recipe)
    store = JobStore(Path(folder) / "jobs")
    plan = Plan(asked, effort, name, store, _earlier(target, asked, name))

    found = plan.outcome(numbers, which)
    with Pool(plan.jobs(numbers, which), plan.store, workers) as pool, LiveTable(progress) as live:
        with told_about(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
        try:
            while pool.busy:
                ended = list(pool.finished())
                if ended:
                    found = plan.outcome(numbers, which)
                live.update(found, pool, ended)
                time.sleep(POLL if pool.busy else 0)
        finally:  # what there is stands in the files, also after Ctrl-C, beside what others wrote there meanwhile
            with locked(target.parent / LOCK, wait=True):
                earlier = _earlier(target, asked, name)
                seeds_before = {run.seed for run in earlier.runs.values()}
                plan = Plan(asked, effort, name, store, earlier)
                everything = plan.outcome(numbers | set(earlier.cells), which | seeds_before)
                for suffix in FORMATS:
                    everything.save(target.with_name(target.name + suffix))
    return found


def _whole(numbers: Iterable[int], name: str) -> set[int]:
    """The numbers that were asked for, if they are numbers."""
    listed = list(numbers) if isinstance(numbers, Iterable) and not isinstance(numbers, str) else None
    fits = listed is not None and all(isinstance(n, int) and n >= 0 for n in listed)
    require(fits, f"{name} must be whole numbers in a list, not {numbers!r}.")
    return set(listed or ())


def _earlier(target: Path, exhibit: Exhibit, recipe: str) -> Reproduction:
    """What an outcome of the same recipe holds already."""
    file = target.with_name(target.name + ".json")
    found = read(file, exhibit) if file.exists() else None
    return found if found and found.recipe == recipe else Reproduction(exhibit, {}, recipe)
