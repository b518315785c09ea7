"""A table or figure of a paper, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unmix.errors import require
from unmix.indeterminacy import Indeterminacy
from unmix.model import Model
from unmix.papers.effort import Effort
from unmix.processes import Process
from unmix.sweeps import Job
from unmix.theory import guarantee

if TYPE_CHECKING:
    from unmix.papers.reproduction import Reproduction


@dataclass(frozen=True)
class Published:
    """A score as the paper prints it: mean ± standard deviation over seeds, in percent if its column is.

    Attributes
    ----------
    std : None where none is printed.
    digits : decimals that the paper prints; an obtained mean is rounded to as many before the two are compared.
    goal : whether more is better. The score of an untrained map, or of one that theory expects to be low, is no goal.
    """

    mean: float
    std: float | None
    goal: bool = True
    digits: int = 2

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {self.std:.{self.digits}f}"
        return f"{self.mean:.{self.digits}f}{spread}"


@dataclass(frozen=True)
class Row:
    """One setting: a process, a model as published, and what the paper prints.

    Attributes
    ----------
    labels : what stands in the left columns, in the order of the exhibit's `heads`.
    tick : whether the paper says that the setting matches its theory; None where it says nothing.
    published : by title of column.
    """

    number: int
    labels: tuple[str, ...]
    process: Process
    model: Model
    published: Mapping[str, Published] = field(default_factory=dict)
    tick: bool | None = None


@dataclass(frozen=True)
class Column:
    """One score of one run a row and seed.

    Attributes
    ----------
    job : what is run for a row, with an effort and a seed.
    score : which of the job's scores is shown.
    percent : whether it is shown in percent; if not, as it is.
    official : the job that measures seconds a step of the official code, and the official number of steps.
    """

    title: str
    score: str
    job: Callable[[Row, Effort, int], Job]
    official: Callable[[Row], tuple[Job, int]] | None = None
    percent: bool = True


@dataclass(frozen=True)
class Exhibit:
    """A table or figure: its rows are settings, its columns are scores.

    Attributes
    ----------
    name : as `unmix reproduce` knows it: paper/exhibit.
    tested : the class of maps that the score is blind to; a row has a tick if theory promises a smaller one.
    picture : a PNG of a reproduction, and the sentence that says what to see in it.
    """

    name: str
    title: str
    reference: str
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    tested: Indeterminacy
    picture: Callable[[Reproduction], tuple[bytes, str]]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        titles, numbers = [column.title for column in self.columns], [row.number for row in self.rows]
        require(len(set(titles)) == len(titles), f"{self.name} has two columns of one title: name them differently.")
        require(len(set(numbers)) == len(numbers), f"{self.name} has two rows of one number: number them differently.")
        require(
            sum(column.official is not None for column in self.columns) <= 1,
            f"{self.name} has two columns with an official cost: the table has room for one.",
        )
        taken = {"row", "cells", "matches theory", "matches theory as trained"} & set(self.heads)
        require(not taken, f"{self.name} has a head {taken}, which its files use themselves: name it differently.")
        for row in self.rows:
            require(
                len(row.labels) == len(self.heads),
                f"row {row.number} of {self.name} has {len(row.labels)} labels: give one for each of {self.heads}.",
            )
            unknown = set(row.published) - set(titles)
            require(not unknown, f"row {row.number} of {self.name} publishes {unknown}, which is no column: {titles}.")

    def row(self, number: int) -> Row:
        found = [row for row in self.rows if row.number == number]
        there = ", ".join(str(row.number) for row in self.rows)
        require(bool(found), f"{self.name} has no row {number}: it has {there}.")
        return found[0]

    def matches_theory(self, row: Row, effort: Effort | None = None) -> bool:
        """Whether some theorem's assumptions hold and its promise lies within the class that is tested.

        Of the model as published, or of the one that an effort trains in its place.
        """
        if effort is None:
            return guarantee(row.process, row.model).within(self.tested)
        model, recipe = effort(row.process, row.model)
        return guarantee(row.process, recipe.trained(model)).within(self.tested)
