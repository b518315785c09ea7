"""The kinds of variables: each says what a linear map has to predict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import pi
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.tables import Column

MOST_CLASSES, DECIMALS = 100, 12
COMMA = re.compile(r"[-+]?\d+,\d+")
Encoded = tuple[Float64[ndarray, "n m"], tuple[str, ...], tuple[str, ...]]
"""Targets, the names of classes, and notes."""


@runtime_checkable
class Kind(Protocol):
    """What a variable is: `encode` turns a column into targets, NaN where it is missing."""

    def encode(self, column: Column, fewest: int) -> Encoded:
        """Targets, classes and notes; a class must have at least `fewest` rows."""
        ...


@dataclass(frozen=True)
class Continuous:
    """A number whose distances have a meaning; scored by R².

    Examples
    --------
    >>> Continuous().encode(Column.of("size", [1.0, None]), fewest=1)[0].ravel().tolist()
    [1.0, nan]
    """

    def encode(self, column: Column, fewest: int) -> Encoded:
        return numbers_of(column)[:, None], (), ()

    def __str__(self) -> str:
        return "continuous"


@dataclass(frozen=True)
class Ordinal:
    """Only the order has a meaning: scored by R² of the ranks, equal values sharing the mean of theirs.

    Parameters
    ----------
    levels : the words of a scale, from low to high; not needed for numbers.

    Examples
    --------
    >>> scale = Ordinal(("low", "mid", "high"))
    >>> scale.encode(Column.of("dose", ["high", "low", "mid"]), fewest=1)[0].ravel().tolist()
    [3.0, 1.0, 2.0]
    """

    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        words = all(isinstance(level, str) for level in self.levels)
        require(words, f"the levels of a scale must be words, as they stand in the table, not {self.levels!r}.")
        require(len(set(self.levels)) == len(self.levels), f"the levels {self.levels!r} must be unlike.")

    def encode(self, column: Column, fewest: int) -> Encoded:
        from scipy.stats import rankdata  # slow to import

        if self.levels:
            worded = column.worded
            listed = ", ".join(sorted(set(worded.levels) - set(self.levels))[:5])
            require(not listed, f"{column.name} has values that are none of its levels ({listed}): name all levels.")
            values = np.array([*(float(self.levels.index(w)) for w in worded.levels), np.nan])[worded.codes]
        else:
            values = numbers_of(column)
        ranks = np.asarray(rankdata(values, nan_policy="omit"), np.float64)
        return ranks[:, None], (), ()

    def __str__(self) -> str:
        return "ordinal"


@dataclass(frozen=True)
class Periodic:
    """An angle: 0 and `period` are the same. Scored by the R² of cosine and sine together, whatever its origin.

    Examples
    --------
    >>> Periodic(360).encode(Column.of("heading", [0.0, 90.0, 360.0]), fewest=1)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]]
    """

    period: float = 2 * pi

    def __post_init__(self) -> None:
        number = isinstance(self.period, (int, float))
        require(number and 0 < self.period < np.inf, f"a period must be a number above 0, not {self.period!r}.")

    def encode(self, column: Column, fewest: int) -> Encoded:
        angle = 2 * pi * numbers_of(column) / self.period
        return np.stack([np.cos(angle), np.sin(angle)], 1).round(DECIMALS), (), ()

    def __str__(self) -> str:
        return f"periodic, {'2π' if self.period == 2 * pi else f'{self.period:g}'}"


@dataclass(frozen=True)
class Categorical:
    """Classes without an order: scored by balanced accuracy.

    Rows of a class that is too rare to be held out count as missing.

    Examples
    --------
    >>> Categorical().encode(Column.of("shape", ["b", "a", "b"]), fewest=1)[:2]
    (array([[0., 1.],
           [1., 0.],
           [0., 1.]]), ('a', 'b'))
    """

    def encode(self, column: Column, fewest: int) -> Encoded:
        worded = column.worded
        assert worded.codes is not None
        there = worded.codes >= 0
        counts = np.bincount(worded.codes[there], minlength=len(worded.levels))
        order = sorted(range(len(worded.levels)), key=lambda i: _place(worded.levels[i]))
        common = [i for i in order if counts[i] >= fewest]
        rare = len(worded.levels) - len(common)
        require(
            len(common) <= MOST_CLASSES,
            f"{column.name} has {len(common)} classes, too many to score: merge classes, or say that it is of another "
            "kind.",
        )
        number = np.full(len(worded.levels) + 1, -1)
        number[common] = np.arange(len(common))
        codes = number[worded.codes]  # the last is of those that are missing
        targets = np.full((len(column), len(common)), np.nan)
        targets[codes >= 0] = np.eye(len(common))[codes[codes >= 0]]
        lost = int(there.sum() - (codes >= 0).sum())
        notes = (f"{rare} classes of fewer than {fewest} rows are left out ({lost} rows)",) if rare else ()
        return targets, tuple(worded.levels[i] for i in common), notes

    def __str__(self) -> str:
        return "categorical"


def _place(level: str) -> tuple[float, str]:
    """Numbers in their order, then words in theirs."""
    try:
        return float(level), level
    except ValueError:
        return np.inf, level


def numbers_of(column: Column) -> Float64[ndarray, " n"]:
    """The column's numbers; a value that is none is told with its row."""
    wrong = column.wrong
    if not len(wrong):
        return column.numbers
    first = column.rows(wrong[:1]).words[0]
    if COMMA.fullmatch(str(first)):
        raise InputError(f"{column.name} has decimal commas, such as {first!r}: write decimal points.")
    raise InputError(
        f"{column.name} is no number in {len(wrong)} row{'s' * (len(wrong) != 1)}, such as {str(first)[:40]!r} in "
        f"row {wrong[0]}: correct them, leave them empty, or say that it is categorical, or ordinal with its levels."
    )
