"""Some of the rows, held in memory: for measures that need rows, and for nulls, which need other pairings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.moments import ChunkMoments, Folds, scrambled

Groups = list[Int64[ndarray, " s"]]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of x and y, each with its chunk and the number of its group; without groups, each row is its own.

    Examples
    --------
    >>> rows = np.arange(6.0)[:, None]
    >>> pairs = Sample(rows, rows, chunk=np.zeros(6, int), group=np.array([0, 0, 1, 1, 2, 2]), folds=1, seed=0)
    >>> next(pairs.orders(1)).tolist()  # groups move whole
    [4, 5, 0, 1, 2, 3]
    """

    x: Float64[ndarray, "m k"]
    y: Float64[ndarray, "m d"]
    chunk: Int64[ndarray, " m"]
    group: Int64[ndarray, " m"]
    folds: int
    seed: int

    @property
    def fold(self) -> Int64[ndarray, " m"]:
        """The fold of each row, as in `Folds`."""
        return self.chunk % self.folds

    def rows(self, index: Int64[ndarray, " r"]) -> Sample:
        """Some of the rows."""
        return replace(self, x=self.x[index], y=self.y[index], chunk=self.chunk[index], group=self.group[index])

    def fewer(self, most: int) -> Sample:
        """At most so many rows, as `chosen` picks them."""
        return self.rows(chosen(self.group, most, self.seed)) if len(self.x) > most else self

    def exchangeable(self) -> Sample:
        """The rows that a null may permute: groups are cut to, or left out for, groups of one size to change with."""
        return self.rows(np.sort(np.concatenate([rows for alike in self._alike() for rows in alike])))

    def orders(self, times: int) -> Iterator[Int64[ndarray, " m"]]:
        """Permutations of exchangeable rows that move whole groups to places of groups of their size."""
        rng = np.random.default_rng([self.seed, 1])
        runs = [np.stack(alike) for alike in self._alike()]
        for _ in range(times):
            order = np.arange(len(self.x))
            for run in runs:
                order[run] = run[rng.permutation(len(run))]
            yield order

    def _alike(self) -> list[Groups]:
        """Lists of groups (as row numbers) of nearly one size, cut to exactly one size."""
        rows = np.argsort(self.group, kind="stable")
        groups = np.split(rows, np.flatnonzero(np.diff(self.group[rows])) + 1)
        if len({len(g) for g in groups}) == 1:
            return [groups]
        shuffled = np.random.default_rng([self.seed, 4]).permutation(len(groups))
        return list(_runs(sorted((groups[i] for i in shuffled), key=len)))


def _runs(groups: Groups, enough: int = 5) -> Iterator[Groups]:
    """Of groups sorted by size, runs of at least `enough`, each cut to its smallest, that keep the most rows.

    best[i] is the most rows that groups i, i + 1, … can keep; a run of twice `enough` is two runs.
    """
    sizes, enough = [len(g) for g in groups], min(enough, len(groups))
    best, choice = [0] * (len(groups) + 1), [1] * len(groups)  # a step of 1 leaves a group out
    for i in reversed(range(len(groups))):
        best[i] = best[i + 1]
        for step in range(enough, min(2 * enough, len(groups) - i + 1)):
            if step * sizes[i] + best[i + step] >= best[i]:
                best[i], choice[i] = step * sizes[i] + best[i + step], step
    start = 0
    run: Groups = []
    while start < len(groups):
        taken = groups[start : start + choice[start]] if best[start] > best[start + 1] else []
        if run and taken and len(taken[0]) != len(run[0]):
            yield run
            run = []
        run += [g[: len((run or taken)[0])] for g in taken]
        start += max(1, len(taken))
    yield run


class Pairings:
    """The folds' moments of a sample for many orders of y; those of x alone stay as they are."""

    def __init__(self, sample: Sample) -> None:
        self.count = sample.folds
        self.rows = [np.flatnonzero(sample.fold == f) for f in range(self.count)]
        self.shift_x, self.shift_y = np.median(sample.x, axis=0), np.median(sample.y, axis=0)
        x, y = sample.x - self.shift_x, sample.y - self.shift_y
        norm_x, norm_y = (x * x).sum(1, keepdims=True), (y * y).sum(1, keepdims=True)
        left, self.right = np.hstack([np.ones((len(x), 1)), norm_x, x]), np.hstack([norm_y, y])
        # The order of `ChunkMoments`: [1, ‖x̄‖², ‖ȳ‖², x̄, ȳ].
        self.of_x = np.r_[0:2, 3 : 3 + x.shape[1]]
        self.of_y = np.r_[2, 3 + x.shape[1] : 3 + x.shape[1] + y.shape[1]]
        self.left = [left[rows] for rows in self.rows]
        size = left.shape[1] + self.right.shape[1]
        self.fixed = np.zeros((self.count, size, size))
        for sums, part in zip(self.fixed, self.left, strict=True):
            sums[np.ix_(self.of_x, self.of_x)] = part.T @ part

    def folds(self, order: Int64[ndarray, " m"]) -> Folds:
        """The folds when row i of x is paired with row order[i] of y."""
        found = self.fixed.copy()
        for sums, left, rows in zip(found, self.left, self.rows, strict=True):
            right = self.right[order[rows]]
            cross = left.T @ right
            sums[np.ix_(self.of_x, self.of_y)] = cross
            sums[np.ix_(self.of_y, self.of_x)] = cross.T
            sums[np.ix_(self.of_y, self.of_y)] = right.T @ right
        return Folds(ChunkMoments(found, self.shift_x, self.shift_y), self.count)


def chosen(group: Int64[ndarray, " n"], most: int, seed: int) -> Int64[ndarray, " m"]:
    """The numbers of at most `most` rows, of as many groups as can be.

    Every group gives up to so many rows, spread evenly over it, as fill the sample; if there are more groups than
    rows to take, some of the groups give one, in the order of a hash.
    """
    hashes = scrambled(group, seed)
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order][:1]))
    sizes = np.diff(starts, append=len(order))
    if len(sizes) == len(group):
        return np.sort(order[:most])
    cap = _fill(sizes, most)
    place = np.arange(len(order)) - np.repeat(starts, sizes)  # within the group
    size = np.repeat(sizes, sizes)
    spread = place * cap // size  # one row for each new value
    fits = (size <= cap) | (place == 0) | (np.diff(spread, prepend=-1) != 0)
    return np.sort(order[fits][:most])


def _fill(sizes: Int64[ndarray, " g"], most: int) -> int:
    """The largest cap c ≥ 1 with Σ min(size, c) ≤ most."""
    low, high = 1, int(sizes.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(sizes, middle).sum() <= most else (low, middle - 1)
    return low
