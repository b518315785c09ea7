"""The door of the measures: two tables of the same rows, checked, passed over once, and sampled."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from jaxtyping import Bool, Int64, Num, Shaped
from numpy import ndarray

from unmix.errors import brief, require
from unmix.measures.copies import copied_columns, copied_rows
from unmix.measures.digits import number
from unmix.measures.sample import Sample, drawn, spaced
from unmix.measures.series import STEP, SerialCorrelation, gap_of, leading, memory
from unmix.moments import (
    CHUNKS,
    ChunkMoments,
    Folds,
    chunks_in_time,
    chunks_of_groups,
    chunks_of_rows,
    chunks_of_table,
)
from unmix.tables.labels import labels_of, require_labels
from unmix.tables.rounding import only_rounding

SAMPLE, SAMPLE_A_COLUMN, SMALL_TABLE, FEW_GROUPS = 5_000, 5, 2**16, 30
BLOCKS_LAST = 2  # how many times as long as the shorter memory of two series a block should be
LARGE = 1e140  # a sum of squares whose square still fits in float64


@dataclass(frozen=True, eq=False)
class Paired:
    """Two tables as the measures take them.

    Attributes
    ----------
    folds : the moments of all rows, in chunks.
    sample : rows held in memory, for nulls and for measures that need rows.
    kept_x, kept_y : the columns that are not constant, rounding apart.
    chunk, group : of each row.
    copies : rows that are there in another group too.
    repeated : pairs of columns of x, and of y, that are one another up to scale and offset.
    serial : how much the rows of each table tell of the next ones.
    gap : of rows in time, which belong to no fold, so that no row is held out next to one that is fitted on; None of
        rows that are not in time.
    """

    folds: Folds
    sample: Sample
    kept_x: Int64[ndarray, " k"]
    kept_y: Int64[ndarray, " d"]
    chunk: Int64[ndarray, " n"]
    group: Int64[ndarray, " n"]
    notes: tuple[str, ...]
    copies: int
    repeated: tuple[list[tuple[int, int]], ...]
    serial: tuple[SerialCorrelation, SerialCorrelation]
    gap: Bool[ndarray, " n"] | None = None

    @property
    def rows(self) -> int:
        """How many rows belong to a fold."""
        return len(self.chunk) - (0 if self.gap is None else int(self.gap.sum()))

    @property
    def fold(self) -> Int64[ndarray, " n"]:
        """The fold of each row, as in `Folds`; −1 of none."""
        fold = self.chunk % self.folds.count
        return fold if self.gap is None else np.where(self.gap, -1, fold)

    @property
    def groups(self) -> int | None:
        """How many groups there are; None of rows that are by themselves."""
        count = int(self.group.max()) + 1
        return count if count < len(self.group) else None

    @property
    def train_rows(self) -> int:
        """Of the smallest train part."""
        return self.rows - int(np.bincount(self.fold[self.fold >= 0]).max())

    @property
    def index(self) -> Sample:
        """All rows, with their numbers for values: for what is permuted elsewhere."""
        number = np.arange(len(self.chunk), dtype=np.float64)[:, None]
        return Sample(
            number, number, self.chunk, self.group, self.folds.count, self.sample.seed, self.gap, self.sample.series
        )

    def seen(self, names: tuple[str, str]) -> tuple[str, ...]:
        """All notes on the two tables of these names: what was done, what is there twice, and rows like a series."""
        return (*self.notes, *self.notes_on_copies(names), *self.notes_on_neighbours())

    def notes_on_neighbours(self) -> tuple[str, ...]:
        """Whether rows look like a series, though nothing was said of time or groups."""
        if self.groups or self.gap is not None or not all(table.alike for table in self.serial):
            return ()
        least = min(table.likeness for table in self.serial)
        return (
            f"neighbouring rows correlate by {number(least)} in both tables: if they are in time, say so with "
            "time (--time), if they belong together, with groups; else scores are too good and p too small. If the "
            "rows are only sorted, nothing is wrong",
        )

    def notes_on_copies(self, names: tuple[str, str]) -> tuple[str, ...]:
        """What is there twice, in words."""
        said = []
        if self.copies:
            said.append(
                f"{self.copies:,} of {self.rows:,} rows are copies of others: held out, they have been seen, so scores "
                "are too good; remove the copies, or give them one group"
            )
        for name, pairs, kept in zip(names, self.repeated, (self.kept_x, self.kept_y), strict=True):
            more = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
            listed = ", ".join(f"{kept[b]} of {kept[a]}" for a, b in pairs[:5])
            said += (
                [f"columns of {name}, counted from 0, repeat others, up to scale and offset: {listed}{more}"]
                if pairs
                else []
            )
        return tuple(said)

    def targets(self, columns: Int64[ndarray, " c"]) -> Paired:
        """Only these columns of y, for measures that do not ask for the rows' norms."""
        chunks = self.folds.chunks.columns(np.arange(len(self.kept_x)), columns)
        sample = replace(self.sample, y=self.sample.y[:, columns])
        return replace(self, folds=replace(self.folds, chunks=chunks), sample=sample, kept_y=self.kept_y[columns])


def pair(
    x: Num[ndarray, "n k"],
    y: Num[ndarray, "m d"],
    *,
    names: tuple[str, str] = ("x", "y"),
    groups: Any = None,
    time: bool = False,
    blocks: int | None = None,
    series: bool = False,
    folds: int = 5,
    sample: int | None = None,
    seed: int = 0,
) -> Paired:
    """Pass over the rows once, drop columns that are constant, but for rounding, with a note, and draw the sample.

    Parameters
    ----------
    series : whether the groups are blocks of a series, in its order, as `blocks` makes them.
    """
    whole = isinstance(seed, Integral) and seed >= 0
    require(whole, f"seed must be a whole number of at least 0, not {brief(seed)}.")
    seed = int(seed)
    require(isinstance(folds, int) and 2 <= folds <= 32, f"folds must be a whole number from 2 to 32, not {folds!r}.")
    enough = sample is None or (isinstance(sample, int) and sample >= 100)
    require(enough, f"a sample of {sample!r} rows is too small for a null: take 100 or more.")
    n = len(x)
    require(
        n == len(y),
        f"{names[0]} has {n} rows and {names[1]} {len(y)}: give the same rows in the same order, or ids to join by.",
    )
    require(n >= 4 * folds, f"{n} rows are too few for {folds} folds: give at least {4 * folds} rows.")
    _check_memory(x.shape[1], y.shape[1], names)
    groups = grouping(groups, time, blocks, n)
    member = _membership(groups, n, folds)
    gap, notes, series = None, [], series or blocks is not None
    if time or series:
        for table, name in ((x, names[0]), (y, names[1])):
            require(_finite(table), f"{name} has NaN or infinite values: remove or fill those rows.")
    if groups is not None:
        chunk = chunks_of_groups(member, seed)
        notes += _short_blocks(x, y, member) if series else []
    elif time:
        apart = gap_of(x, y, folds)
        chunk, gap = chunks_in_time(n, folds, apart)
        notes.append(f"rows in time: folds are consecutive rows, {apart:,} row{'s' * (apart != 1)} apart")
    else:
        chunk = chunks_of_table(n, seed) if n < SMALL_TABLE else chunks_of_rows(0, n, seed)

    # Rows of the gaps go to a chunk of their own, which is then left out.
    placed = chunk if gap is None else np.where(gap, CHUNKS, chunk)
    chunks = ChunkMoments.of(x, y, chunks=placed, count=CHUNKS + (gap is not None), names=names)
    chunks = replace(chunks, sums=chunks.sums[:CHUNKS])
    pooled = chunks.pooled()
    spread = [np.diag(gram) for gram in (pooled.xx, pooled.yy)]
    noise = [
        only_rounding(table, mean, np.sqrt(squares / pooled.n))
        for table, mean, squares in zip((x, y), (pooled.mean_x, pooled.mean_y), spread, strict=True)
    ]
    moving = [(squares > 0) & ~only for squares, only in zip(spread, noise, strict=True)]
    if groups is not None and (count := int(member.max()) + 1) < FEW_GROUPS:
        notes.append(f"only {count} groups: intervals are rough")
    sums = np.split(np.abs(chunks.sums[:, 0, 3:]).max(0), [chunks.width])
    for name, moves, squares, only, total in zip(names, moving, spread, noise, sums, strict=True):
        still = ~moves & ~only
        tiny = np.where(still, total > 0, squares < 1 / LARGE)  # a constant column sums to 0 about its own value
        require(not (tiny | (squares > LARGE)).any(), f"{name} has a column too large or too small: rescale it.")
        require(bool(moves.any()), f"every column of {name} is constant: nothing to measure (a collapsed encoder?).")
        if still.any():
            notes.append(f"dropped constant column {listed(still)} of {name}")
        if only.any():
            notes.append(f"dropped column {listed(only)} of {name}, which varies by no more than rounding")
    kept_x, kept_y = (np.flatnonzero(moves) for moves in moving)
    repeated = tuple(copied_columns(g[np.ix_(k, k)]) for g, k in ((pooled.xx, kept_x), (pooled.yy, kept_y)))

    most = sample or max(SAMPLE, SAMPLE_A_COLUMN * max(len(kept_x), len(kept_y)))
    index = (drawn(member, most, seed) if gap is None else spaced(n, most)) if n > most else np.arange(n)
    tables = _taken(x, index, kept_x), _taken(y, index, kept_y)
    some = Sample(*tables, chunk[index], member[index], folds, seed, None if gap is None else gap[index], series)
    used = chunks if all(moves.all() for moves in moving) else chunks.columns(kept_x, kept_y)
    copies = copied_rows(x, y, member)
    serial = SerialCorrelation.of(x), SerialCorrelation.of(y)
    return Paired(Folds(used, folds), some, kept_x, kept_y, chunk, member, tuple(notes), copies, repeated, serial, gap)


def grouping(groups: Any, time: bool, blocks: int | None, rows: int) -> Any:
    """The groups that were asked for: given, or blocks of consecutive rows, or none.

    Examples
    --------
    >>> grouping(None, False, 2, 5).tolist()
    [0, 0, 1, 1, 2]
    """
    require(isinstance(time, bool), f"time must be True or False, not {time!r}.")
    both = [name for name, given in (("groups", groups is not None), ("blocks", blocks is not None)) if given]
    require(
        not (time and both),
        f"time takes all rows as one series and {' and '.join(both)} take them apart: leave one of the two out.",
    )
    require(len(both) < 2, "blocks are groups of consecutive rows: give groups or blocks, not both.")
    if blocks is None:
        return groups
    whole = isinstance(blocks, Integral) and not isinstance(blocks, bool) and 2 <= blocks < rows
    require(whole, f"blocks must be a whole number of rows, 2 or more and fewer than all {rows}, not {blocks!r}.")
    return np.arange(rows) // int(blocks)


def _short_blocks(x: Num[ndarray, "n k"], y: Num[ndarray, "n d"], block: Int64[ndarray, " n"]) -> list[str]:
    """A note on blocks of a series that both tables remember for long: such blocks do not change places freely."""
    size, least = int(np.bincount(block).max()), min(memory(leading(table)) for table in (x, y))
    if size >= BLOCKS_LAST * least:
        return []
    return [
        f"both tables remember {least:,} rows or more, so that blocks of {size:,} rows do not change places freely and "
        f"p is too small: take blocks of {BLOCKS_LAST * least:,} rows or more, or time (--time)"
    ]


def _check_memory(width_x: int, width_y: int, names: tuple[str, str]) -> None:
    need = 8 * CHUNKS * (3 + width_x + width_y) ** 2
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else need
    require(
        need < have / 3,
        f"moments of {names[0]} and {names[1]} ({width_x} and {width_y} columns) need {need / 2**30:.0f} GB and this "
        f"machine has {have / 2**30:.0f}: compare fewer columns, such as leading principal components.",
    )


def require_groups(labels: Shaped[ndarray, " n"]) -> None:
    """Refuse one group for all rows, and groups of one row each."""
    _require_some(len(np.unique(labels)), len(labels))


def _require_some(groups: int, rows: int) -> None:
    require(groups < rows, "every group has one row, which is the same as no groups: leave groups out.")
    require(groups > 1, "all rows are in one group, so none can be held out: give more groups, or leave groups out.")


def require_in_time(order: Int64[ndarray, " n"], names: tuple[str, str], time: bool) -> None:
    """Refuse rows in time that ids would bring to another order."""
    sorted_already = bool((np.diff(order) > 0).all())
    require(
        not time or sorted_already,
        f"the ids of {names[1]} are in another order than those of {names[0]}, so one of the two is not in time: sort "
        "both by time first.",
    )


def _membership(groups: Any, n: int, folds: int) -> Int64[ndarray, " n"]:
    """The number of each row's group; without groups, of the row."""
    if groups is None:
        return np.arange(n)
    labels = labels_of(groups, "groups")
    require(labels.shape == (n,), f"groups must be one label a row: {n} of them, not {labels.shape}.")
    require_labels(labels, "groups")
    labels = labels.astype(str) if labels.dtype == object else labels
    names, member = np.unique(labels, return_inverse=True)
    member = np.argsort(np.argsort(names.astype(str)))[member]  # 10 is the same group as "10", and in the same fold
    _require_some(len(names), n)
    require(
        len(names) >= 2 * folds,
        f"{len(names)} groups are too few for {folds} folds: each needs 2 or more, so take fewer folds or more groups.",
    )
    return member.astype(np.int64)


def _finite(table: Num[ndarray, "n k"]) -> bool:
    return all(np.isfinite(np.asarray(table[a : a + STEP], np.float64)).all() for a in range(0, len(table), STEP))


def _taken(table: Num[ndarray, "n k"], rows: Int64[ndarray, " m"], columns: Int64[ndarray, " c"]) -> Any:
    return np.asarray(table[rows], np.float64)[:, columns]


def listed(flags: Bool[ndarray, " k"]) -> str:
    """The numbers of the columns that are marked, the first ten of them."""
    numbers = np.flatnonzero(flags)
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return ", ".join(map(str, numbers[:10])) + more
