"""One place of a table: what was published, and what was obtained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from statistics import fmean, median, stdev
from typing import Any, Literal

from unmix.configuration import from_config
from unmix.errors import InputError, RunFolderError
from unmix.papers.descriptions import KNOWN
from unmix.papers.effort import Effort
from unmix.papers.exhibit import Column, Published, Row
from unmix.sweeps.job import Job, key

Mark = Literal["reached", "near", "below"]
LOSSES = ("attained", "floor", "at_inverse")
NEAR = 0.3  # points
DAGGER, TUNED = " †", " ‡"
TUNING_SEED = 0  # recipes were chosen by its scores, so it is in no mean


@dataclass(frozen=True)
class Run:
    """One finished job: its name in the store, its seed, and what it wrote."""

    key: str
    seed: int
    result: Mapping[str, Any]

    def __post_init__(self) -> None:
        result = self.result if isinstance(self.result, Mapping) else {}
        scores = result.get("scores")
        numbers = [*scores.values(), result.get("seconds")] if isinstance(scores, Mapping) else [""]
        named = isinstance(self.key, str) and isinstance(self.seed, int)
        if not (named and all(isinstance(number, (int, float, type(None))) for number in numbers)):
            raise RunFolderError(f"the result of run {self.key} is damaged: delete its folder, and it is run again.")

    @cached_property
    def job(self) -> Any:
        """The job as it reads today; None if it cannot be read any more, or was run by another version of unmix.

        Options that came since are at their defaults, so a new option's default must be what was done before.
        """
        try:
            same = self.result["versions"]["unmix"] == version("unmix")
            return from_config(self.result["job"], KNOWN) if same else None
        except (InputError, KeyError, TypeError):
            return None

    def is_of(self, job: Job) -> bool:
        """Whether it is a run of this very job."""
        return self.job is not None and key(self.job) == key(job)


@dataclass(frozen=True)
class Cell:
    """One row and column: what was published, and what was obtained from each seed.

    Attributes
    ----------
    values : the score of each run that is reported and has it, in percent if the column is.
    failures : why runs failed, by seed.
    official : what was measured of the official code on this machine: seconds a step, and its steps; None where it
        is not known.
    outdated : whether runs are of settings that the recipe or the model had before, or of another version of unmix;
        they are shown with a dagger.
    """

    row: Row
    column: Column
    runs: tuple[Run, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict)
    official: Mapping[str, Any] | None = None
    outdated: bool = False

    @property
    def published(self) -> Published | None:
        return self.row.published.get(self.column.title)

    @property
    def tuning(self) -> tuple[Run, ...]:
        """The run of the seed that recipes were chosen on, if it is there."""
        return tuple(run for run in self.runs if run.seed == TUNING_SEED)

    @property
    def reported(self) -> tuple[Run, ...]:
        """The runs of all other seeds; if there are none, the run of the tuning seed, which is then said."""
        return tuple(run for run in self.runs if run.seed != TUNING_SEED) or self.tuning

    @property
    def only_tuning(self) -> bool:
        return bool(self.runs) and self.reported == self.tuning

    @property
    def scored(self) -> tuple[Run, ...]:
        """The reported runs that have the score: not every score applies to every run."""
        return tuple(run for run in self.reported if self.column.score in run.result["scores"])

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
        spent = [float(run.result["seconds"]) for run in self.reported if "seconds" in run.result]
        return median(spent) if spent else None

    def loss(self, which: str) -> float | None:
        """A loss of `Optimality`, such as "attained", the mean over runs with a loss, if each knows it."""
        told = [loss[which] for run in self.reported if (loss := run.result.get("loss"))]
        return fmean(float(loss["value"]) for loss in told) if told and all(told) else None

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
        """At or above the published mean to its decimals, within 0.3 points below it, or lower.

        None without a goal, and where only the tuning seed was run.
        """
        if self.mean is None or self.published is None or not self.published.goal or self.only_tuning:
            return None
        short = round(self.published.mean - round(self.mean, self.published.digits), 2)
        return "reached" if short <= 0 else "near" if short <= NEAR else "below"

    def judged(self, effort: Effort) -> Cell:
        """The same cell, outdated if its runs are not what this effort would run now."""
        jobs = [self.column.job(self.row, effort, run.seed) for run in self.runs]
        return replace(self, outdated=any(not run.is_of(job) for run, job in zip(self.runs, jobs, strict=True)))

    def __str__(self) -> str:
        if self.mean is None:
            return "failed" if self.failures else "–"
        failed = {seed for seed in self.failures if seed != TUNING_SEED or self.only_tuning}
        lost = failed - {run.seed for run in self.runs}
        partial = f" ({len(self.reported)} of {len(self.reported) + len(lost)} seeds)" if lost else ""
        partial = partial or " (a new run failed)" * bool(failed)
        digits = 2 if self.column.percent else 3
        spread = f" ± {self.std:.{digits}f}" if self.std is not None else ""
        marks = TUNED * self.only_tuning + DAGGER * self.outdated
        return f"{self.mean:.{digits}f}{spread}{partial}{marks}"

    def as_dict(self) -> dict[str, Any]:
        published = self.published and {"mean": self.published.mean, "std": self.published.std}
        return {
            "published": published,
            "obtained": {"mean": self.mean, "std": self.std, "values": list(self.values)},
            "losses": {which: self.loss(which) for which in LOSSES},
            "mark": self.mark,
            "seconds": self.seconds,
            "official": self.official and dict(self.official),
            "ratio": self.ratio,
            "runs": [{"key": run.key, "seed": run.seed} for run in self.runs],
            "failures": {str(seed): why for seed, why in self.failures.items()},
        }
