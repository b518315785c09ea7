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
        """At most so many rows, in whole groups, chosen by hash."""
        if len(self.x) <= most:
            return self
        return self.rows(chosen(self.group, most, self.seed))

    def exchangeable(self) -> Sample:
        """The rows that a null may permute: groups of unlike sizes are cut to the smallest among their neighbours."""
        return self.rows(np.sort(np.concatenate([rows for alike in self._alike() for rows in alike])))

    def orders(self, times: int) -> Iterator[Int64[ndarray, " m"]]:
        """Permutations of exchangeable rows, within folds, that move whole groups to places of groups of their size."""
        rng = np.random.default_rng([self.seed, 1])
        runs = [np.stack(alike) for alike in self._alike()]
        for _ in range(times):
            order = np.arange(len(self.x))
            for run in runs:
                order[run] = run[rng.permutation(len(run))]
            yield order

    def _alike(self) -> Iterator[Groups]:
        """Groups (as row numbers) of one fold and nearly one size, cut to exactly one size."""
        for fold in range(self.folds):
            rows = np.flatnonzero(self.fold == fold)
            rows = rows[np.argsort(self.group[rows], kind="stable")]
            groups = np.split(rows, np.flatnonzero(np.diff(self.group[rows])) + 1)
            for alike in _runs(sorted(groups, key=len)):
                yield [group[: len(alike[0])] for group in alike]


def _runs(groups: Groups, enough: int = 5, slack: float = 1.2) -> Iterator[Groups]:
    """Cut a list sorted by length where lengths grow by `slack` and both sides still have `enough` groups."""
    start = 0
    for i in range(len(groups)):
        grown = len(groups[i]) > slack * len(groups[start])
        if grown and i - start >= enough and len(groups) - i >= enough:
            yield groups[start:i]
            start = i
    yield groups[start:]


class Pairings:
    """The folds' moments of a sample for many orders of y: only the cross-products are computed anew."""

    def __init__(self, sample: Sample) -> None:
        self.by_fold = np.argsort(sample.fold, kind="stable")
        self.ends = np.cumsum(np.bincount(sample.fold, minlength=sample.folds))
        self.base = ChunkMoments.of(sample.x, sample.y, chunks=sample.fold, count=sample.folds)
        x, y = sample.x - self.base.shift_x, sample.y - self.base.shift_y
        norm_x, norm_y = (x * x).sum(1, keepdims=True), (y * y).sum(1, keepdims=True)
        self.left = np.hstack([norm_x, x])[self.by_fold]
        self.right = np.hstack([norm_y, y])

    def folds(self, order: Int64[ndarray, " m"] | None = None) -> Folds:
        """The folds when row i of x is paired with row order[i] of y; `order` stays within folds."""
        if order is None:
            return Folds(self.base, len(self.ends))
        k, sums = self.base.width, self.base.sums.copy()
        rows, columns = np.r_[1, 3 : 3 + k], np.r_[2, 3 + k : sums.shape[1]]
        right = self.right[order[self.by_fold]]
        for fold, (a, b) in enumerate(zip([0, *self.ends[:-1]], self.ends, strict=True)):
            cross = self.left[a:b].T @ right[a:b]
            sums[fold][np.ix_(rows, columns)] = cross
            sums[fold][np.ix_(columns, rows)] = cross.T
        return Folds(replace(self.base, sums=sums), len(self.ends))


def chosen(group: Int64[ndarray, " n"], most: int, seed: int) -> Int64[ndarray, " m"]:
    """The numbers of at most `most` rows, in whole groups (at least one), chosen by a hash of the group's number."""
    hashes = scrambled(group, seed)
    order = np.argsort(hashes, kind="stable")
    ends = np.flatnonzero(np.diff(hashes[order], append=~hashes[order][-1:])) + 1  # of the runs of equal hashes
    fit = np.searchsorted(ends, most, side="right")
    return np.sort(order[: ends[max(int(fit) - 1, 0)]])
