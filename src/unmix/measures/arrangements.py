"""The orders in which groups of rows are paired anew: groups are moved whole, and rotated inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import lgamma, log

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

Run = Int64[ndarray, "g s"]
"""The row numbers of g groups of one size s, each group's rows in their given order."""

ENOUGH = 5


def runs_of(group: Int64[ndarray, " m"], seed: int) -> list[Run]:
    """Groups of one size, which may change places: where sizes differ, runs of at least five cut to their smallest.

    Examples
    --------
    >>> [run.tolist() for run in runs_of(np.array([0, 1, 0, 1, 1]), seed=0)]  # two groups are one run
    [[[0, 2], [1, 3]]]
    """
    rows = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[rows], prepend=-1))
    sizes = np.diff(starts, append=len(rows))
    if (sizes == sizes[0]).all():
        return [rows.reshape(-1, sizes[0])]
    groups = np.split(rows, starts[1:])
    shuffled = np.random.default_rng([seed, 4]).permutation(len(groups))  # who is cut is left to chance
    return list(_runs(sorted((groups[i] for i in shuffled), key=len)))


def _runs(groups: list[Int64[ndarray, " s"]]) -> Iterator[Run]:
    """Of groups sorted by size, the runs that keep the most rows.

    best[i] is the most rows that groups i, i + 1, … can keep; a run of twice `ENOUGH` is two runs.
    """
    sizes, enough = [len(g) for g in groups], min(ENOUGH, len(groups))
    best, choice = [0] * (len(groups) + 1), [1] * len(groups)  # a step of 1 leaves a group out
    for i in reversed(range(len(groups))):
        best[i] = best[i + 1]
        for step in range(enough, min(2 * enough, len(groups) - i + 1)):
            if step * sizes[i] + best[i + step] >= best[i]:
                best[i], choice[i] = step * sizes[i] + best[i + step], step
    start = 0
    run: list[Int64[ndarray, " s"]] = []
    while start < len(groups):
        taken = groups[start : start + choice[start]] if best[start] > best[start + 1] else []
        if run and taken and len(taken[0]) != len(run[0]):
            yield np.stack(run)
            run = []
        run += [g[: len((run or taken)[0])] for g in taken]
        start += max(1, len(taken))
    yield np.stack(run)


def arranged(runs: list[Run], rng: np.random.Generator, rotated: bool) -> Int64[ndarray, " m"]:
    """One order: every group at the place of another of its run, and turned by a random offset of its own."""
    order = np.empty(sum(run.size for run in runs), np.int64)
    for run in runs:
        groups, size = run.shape
        turned: Run = run
        if rotated and size > 1:
            places = np.arange(size) + rng.integers(size, size=(groups, 1))
            turned = np.take_along_axis(run, places % size, axis=1)
        order[run] = turned[rng.permutation(groups)]
    return order


def moves(runs: list[Run], table: Float64[ndarray, "m k"]) -> float:
    """The logarithm of how many different tables moving groups can give: groups that are alike change nothing.

    Examples
    --------
    >>> x = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
    >>> round(np.exp(moves([np.arange(6).reshape(3, 2)], x)))  # the first group is at one of three places
    3
    """
    total = 0.0
    for run in runs:
        kinds = Counter(rows.tobytes() for rows in table[run] + 0.0)  # −0 becomes 0
        total += lgamma(len(run) + 1) - sum(lgamma(count + 1) for count in kinds.values())
    return total


def rotations(runs: list[Run], table: Float64[ndarray, "m k"]) -> float:
    """The logarithm of how many different tables rotating groups can give: a constant group has one rotation.

    Examples
    --------
    >>> x = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0]])
    >>> round(np.exp(rotations([np.arange(6).reshape(2, 3)], x)))
    3
    """
    total = 0.0
    for run in runs:
        size = run.shape[1]
        rows, period = table[run], np.full(len(run), size)
        for shorter in (p for p in range(size // 2, 0, -1) if size % p == 0):
            period[(rows[:, shorter:] == rows[:, :-shorter]).all((1, 2))] = shorter
        total += sum(map(log, period.tolist()))
    return total
