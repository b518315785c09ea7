"""Some of the rows, held in memory: for measures that need rows, and for nulls, which need other pairings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy import ndarray

from unmix.measures.arrangements import ENOUGH, Run, arranged, moves, rotations, runs_of
from unmix.measures.place import follows_place
from unmix.measures.series import drifts, leading
from unmix.moments import ChunkMoments, Folds, scrambled

ENOUGH_GROUPS, FEWEST_ARRANGEMENTS = 100, 100
Columns = tuple[int, ...] | None
"""Which columns of y are meant; None for all of them."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of x and y, each with its chunk and the number of its group; without groups, each row is its own.

    Attributes
    ----------
    gap : of rows in time, which of them belong to no fold; None of rows that are not in time.
    series : whether the groups are blocks of a series, in its order.

    Examples
    --------
    >>> rows = np.arange(6.0)[:, None]
    >>> pairs = Sample(rows, rows, chunk=np.zeros(6, int), group=np.array([0, 0, 1, 1, 2, 2]), folds=1, seed=0)
    >>> next(pairs.orders(1, rotated=False)).tolist()  # groups move whole
    [4, 5, 0, 1, 2, 3]
    >>> next(pairs.orders(1)).tolist()  # and are rotated inside
    [3, 2, 5, 4, 1, 0]
    """

    x: Float64[ndarray, "m k"]
    y: Float64[ndarray, "m d"]
    chunk: Int64[ndarray, " m"]
    group: Int64[ndarray, " m"]
    folds: int
    seed: int
    gap: Bool[ndarray, " m"] | None = None
    series: bool = False

    @property
    def fold(self) -> Int64[ndarray, " m"]:
        """The fold of each row, as in `Folds`; −1 of none."""
        fold = self.chunk % self.folds
        return fold if self.gap is None else np.where(self.gap, -1, fold)

    def rows(self, index: Int64[ndarray, " r"]) -> Sample:
        """Some of the rows."""
        gap = None if self.gap is None else self.gap[index]
        return replace(
            self, x=self.x[index], y=self.y[index], chunk=self.chunk[index], group=self.group[index], gap=gap
        )

    def fewer(self, most: int) -> Sample:
        """At most so many rows, as `chosen` or, in time, `spaced` picks them."""
        if len(self.x) <= most:
            return self
        return self.rows(chosen(self.group, most, self.seed) if self.gap is None else spaced(len(self.x), most))

    def exchangeable(self) -> Sample:
        """The rows that a null may pair anew: groups are cut to, or left out for, groups of one size to change with."""
        if self.gap is not None or sum(run.size for run in self.runs) == len(self.x):
            return self
        return self.rows(_in(self.runs))

    @cached_property
    def runs(self) -> list[Run]:
        """Groups of one size, as `runs_of` finds them."""
        return runs_of(self.group, self.seed)

    def orders(self, times: int, rotated: bool = True) -> Iterator[Int64[ndarray, " m"]]:
        """Orders in which exchangeable rows of one side are paired with the other.

        Whole groups change places with groups of their size and are rotated inside, each by an offset of its own,
        unless `rotated` is False. Rows in time are shifted in a circle by each lag, or by `times` of them at random.
        """
        n = len(self.x)
        if self.gap is not None:
            lags = 1 + np.random.default_rng([self.seed, 1]).permutation(n - 1)[:times]
            yield from ((np.arange(n) + lag) % n for lag in lags)
            return
        rng = np.random.default_rng([self.seed, 1 if rotated else 7])
        for _ in range(times):
            yield arranged(self.runs, rng, rotated)

    @cached_property
    def moves_x(self) -> bool:
        """Whether the orders are of the rows of x. In time the side that does not drift is shifted."""
        return self.gap is not None and not self._x_drifts

    @cached_property
    def _x_drifts(self) -> bool:
        return drifts(leading(self.x))

    def sides(self, order: Int64[ndarray, " m"]) -> tuple[Int64[ndarray, " m"], Int64[ndarray, " m"]]:
        """Which rows of x, and of y, are paired by an order."""
        still = np.arange(len(order))
        return (order, still) if self.moves_x else (still, order)

    def unjudged(self, columns: Columns = None) -> str:
        """Why the orders cannot say what chance gives for these columns of y; empty where they can."""
        y = self.y if columns is None else self.y[:, list(columns)]
        if (self.gap is not None or self.series) and self._x_drifts and drifts(leading(y)):
            return "both tables drift in time; take differences, remove trends, or give whole sessions as groups"
        if self.gap is not None:
            count, what = log(len(y)), "shifts in time"  # the one by no row is counted
        else:
            size = [min(kind(self.runs, self.x), kind(self.runs, y)) for kind in (moves, rotations)]
            whole = "groups" if any(run.shape[1] > 1 for run in self.runs) else "rows"
            count, what = sum(size), f"different arrangements of the {whole}"
        return "" if count > log(FEWEST_ARRANGEMENTS - 0.5) else f"only {round(np.exp(count))} {what}"

    def shares_place(self, columns: Columns = None) -> bool:
        """Whether x and these columns of y both depend on the place in the group, whatever the group."""
        y = self.y if columns is None else self.y[:, list(columns)]
        return self.gap is None and self._x_follows_place and follows_place(self.runs, y)

    @cached_property
    def _x_follows_place(self) -> bool:
        return follows_place(self.runs, self.x)


def nulls(
    sample: Sample, score: Callable[[Int64[ndarray, " m"]], float], permutations: int
) -> tuple[Float64[ndarray, " b"], Float64[ndarray, " b"] | None]:
    """The scores of so many orders; and, where the place in the group is shared, of orders that keep it."""
    found = np.array([score(order) for order in sample.orders(permutations)])
    if not sample.shares_place():
        return found, None
    return found, np.array([score(order) for order in sample.orders(permutations, rotated=False)])


class Pairings:
    """The folds' moments of a sample for many orders of one side; those of the other alone stay as they are."""

    def __init__(self, sample: Sample) -> None:
        self.count = sample.folds
        self.rows = [np.flatnonzero(sample.fold == f) for f in range(self.count)]
        self.shift_x, self.shift_y = np.median(sample.x, axis=0), np.median(sample.y, axis=0)
        sides = []
        # The order of `ChunkMoments`: [1, ‖x̄‖², ‖ȳ‖², x̄, ȳ].
        start = 3
        for norm, rows in ((1, sample.x - self.shift_x), (2, sample.y - self.shift_y)):
            place = np.r_[norm, start : start + rows.shape[1]]
            sides.append((place, np.hstack([(rows * rows).sum(1, keepdims=True), rows])))
            start += rows.shape[1]
        (self.of_still, still), (self.of_moved, self.moved) = sides[::-1] if sample.moves_x else sides
        self.of_still, still = np.r_[0, self.of_still], np.hstack([np.ones((len(still), 1)), still])
        self.still = [still[rows] for rows in self.rows]
        self.fixed = np.zeros((self.count, start, start))
        for sums, part in zip(self.fixed, self.still, strict=True):
            sums[np.ix_(self.of_still, self.of_still)] = part.T @ part

    def folds(self, order: Int64[ndarray, " m"]) -> Folds:
        """The folds when row i of the side that stays is paired with row order[i] of the other."""
        found = self.fixed.copy()
        for sums, still, rows in zip(found, self.still, self.rows, strict=True):
            moved = self.moved[order[rows]]
            cross = still.T @ moved
            sums[np.ix_(self.of_still, self.of_moved)] = cross
            sums[np.ix_(self.of_moved, self.of_still)] = cross.T
            sums[np.ix_(self.of_moved, self.of_moved)] = moved.T @ moved
        return Folds(ChunkMoments(found, self.shift_x, self.shift_y), self.count)


def drawn(group: Int64[ndarray, " n"], most: int, seed: int) -> Int64[ndarray, " m"]:
    """The numbers of at most `most` rows that a null may pair anew: groups are cut to like sizes, then `chosen`."""
    hashes = scrambled(group, seed)
    names = np.unique(hashes)
    if len(names) == len(group):
        return chosen(group, most, seed)
    rows = np.flatnonzero(hashes <= names[min(most, len(names)) - 1])  # no more groups than rows can be there
    cut = rows[_in(runs_of(group[rows], seed))]
    return cut[chosen(group[cut], most, seed)] if len(cut) > most else cut


def _in(runs: list[Run]) -> Int64[ndarray, " m"]:
    return np.sort(np.concatenate([run.ravel() for run in runs]))


def chosen(group: Int64[ndarray, " n"], most: int, seed: int) -> Int64[ndarray, " m"]:
    """The numbers of at most `most` rows: of rows without groups, by a hash; else of whole groups, by a hash.

    Where a hundred whole groups are more than `most` rows, every group gives one row in so many, counted from its
    first. So the places that are left are the same in all groups and evenly spaced, and of few groups all are there:
    pairs of rows of one group are then as frequent among the chosen rows as among all.
    """
    hashes = scrambled(group, seed)
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order][:1]))
    sizes = np.diff(starts, append=len(order))
    if len(sizes) == len(group):
        return np.sort(order[:most])
    by_size = np.argsort(sizes, kind="stable")
    of_size = np.arange(len(sizes)) - np.searchsorted(sizes[by_size], sizes[by_size])
    turn = np.argsort(of_size[np.argsort(by_size)] >= ENOUGH, kind="stable")  # first some of every size
    low, high = 1, int(sizes.max())
    while low < high:  # the smallest spacing with which a hundred groups fit
        middle = (low + high) // 2
        low, high = (low, middle) if -(-sizes[turn[:ENOUGH_GROUPS]] // middle).sum() <= most else (middle + 1, high)
    fits = np.zeros(len(sizes), bool)
    fits[turn] = np.cumsum(-(-sizes[turn] // low)) <= most
    place = np.arange(len(order)) - np.repeat(starts, sizes)  # within the group
    return np.sort(order[np.repeat(fits, sizes) & (place % low == 0)])


def spaced(rows: int, most: int) -> Int64[ndarray, " m"]:
    """At most `most` of so many rows in time, evenly spaced: of a stationary series, a stationary series.

    Examples
    --------
    >>> spaced(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.arange(0, rows, -(-rows // most))
