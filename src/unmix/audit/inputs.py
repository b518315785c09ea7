"""The door of an audit: an embedding and factors of the same rows, in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64, Shaped
from numpy import ndarray

from unmix.errors import require
from unmix.factors import Factor, Kind, Left, prepared
from unmix.measures.paired import grouping, require_groups, require_in_time
from unmix.tables import (
    Column,
    Table,
    in_one_order,
    matching,
    read,
    read_columns,
    require_agreement,
    require_labels,
    require_no_ids,
)
from unmix.tables.foreign import known
from unmix.tables.labels import labels_of

NAMES = "the embedding", "the factors"


@dataclass(frozen=True, eq=False)
class Inputs:
    """What is audited.

    Attributes
    ----------
    notes : of rows that were joined by their index.
    """

    table: Table
    factors: list[Factor]
    left: list[Left]
    groups: Shaped[ndarray, " n"] | None
    notes: tuple[str, ...]


def inputs(
    embedding: Any,
    factors: Any,
    kinds: Mapping[str, Kind] | None,
    only: Sequence[str] | None,
    ids: str | Sequence[Any] | None,
    groups: str | Any,
    name: str | None,
    folds: int,
    time: bool = False,
    blocks: int | None = None,
) -> Inputs:
    """Read, join by index or ids, take groups out of the factors, and give every factor its kind."""
    require(isinstance(folds, int) and 2 <= folds <= 32, f"folds must be a whole number from 2 to 32, not {folds!r}.")
    named = isinstance(embedding, (str, Path, Table))
    titles, in_time = (name or NAMES[0], NAMES[1]), time or blocks is not None
    embedding, factors = known(embedding, titles[0]), known(factors, titles[1], factors=True)
    if ids is None:
        require_no_ids([embedding, factors], titles, "give ids= its name to join by it, or leave it out of both")
        (embedding, factors, groups), notes = in_one_order([embedding, factors, groups], (*titles, "groups"), in_time)
    else:
        (embedding, groups), notes = in_one_order([embedding, groups], (titles[0], "groups"))
    wanted = [ids] if isinstance(ids, str) else []
    table = read(embedding, name or (None if named else NAMES[0]), labels=wanted)
    listed = only is None or (isinstance(only, (list, tuple)) and all(isinstance(c, str) for c in only))
    require(listed, f"only must be a list of names of factors, not {only!r}.")
    labels = [label for label in (ids, groups) if isinstance(label, str)]
    columns = {c.name: c for c in read_columns(factors, words=labels, only=only)}
    if ids is not None:
        columns, order = _joined(table, columns, ids)
        require_in_time(order, (table.name, NAMES[1]), in_time)
        require_agreement([embedding, factors], [np.arange(len(table)), order], titles)
    count = len(next(iter(columns.values()))) if columns else len(table)
    require(
        count == len(table),
        f"{table.name} has {len(table)} rows and the factors {count}: give the same rows in the same order, or ids to "
        "join by.",
    )
    if isinstance(groups, str):
        groups = columns.pop(groups).words
    groups = grouping(groups, time, blocks, len(table))
    if groups is not None:
        groups = labels_of(groups, "groups")
        require(
            groups.shape == (len(table),), f"groups must be one label a row: {len(table)} of them, not {groups.shape}."
        )
        require_labels(groups, "groups")
        groups = groups.astype(str)
        require_groups(groups)
    require(bool(columns), "no factor is left: give at least one column besides ids and groups.")
    least = 4 * folds
    require(len(table) >= least, f"{len(table)} rows are too few for {folds} folds: give at least {least} rows.")
    asked, left = prepared(list(columns.values()), kinds, fewest=2 * folds)
    if groups is not None:
        asked, lost = _held_out_classes(asked, groups)
        left += lost
        reasons = "; ".join(f"{some.name}: {some.reason}" for some in left)
        require(bool(asked), f"no factor can be asked for. {reasons}.")
    return Inputs(table, asked, left, groups, tuple(notes.values()))


def _joined(
    table: Table, columns: dict[str, Column], ids: str | Sequence[Any]
) -> tuple[dict[str, Column], Int64[ndarray, " n"]]:
    """The factors in the order of the embedding, and that order."""
    if isinstance(ids, str):
        require(ids in table.labels, f"{table.name} has no named columns: give a list of ids for each table.")
        ours, theirs = read_columns({ids: table.labels[ids]}, words=[ids])[0].words, columns[ids].words
        columns = {name: c for name, c in columns.items() if name != ids}
    else:
        two = isinstance(ids, (list, tuple)) and len(ids) == 2 and not any(isinstance(some, str) for some in ids)
        require(two, "ids must be the name of a column of both tables, or a list of labels for each of the two.")
        ours, theirs = (labels_of(labels, "ids") for labels in ids)
    count = len(next(iter(columns.values()))) if columns else len(theirs)
    for labels, rows, title in ((ours, len(table), table.name), (theirs, count, NAMES[1])):
        require(len(labels) == rows, f"{title} has {rows} rows and {len(labels)} ids: give one id a row.")
    _, order = matching([ours, theirs], [table.name, NAMES[1]])
    return {name: c.rows(order) for name, c in columns.items()}, order


def _held_out_classes(factors: list[Factor], groups: Shaped[ndarray, " n"]) -> tuple[list[Factor], list[Left]]:
    """Without the classes that one group alone has: held out, nobody has seen them."""
    member = np.unique(groups, return_inverse=True)[1]
    found: list[Factor] = []
    left: list[Left] = []
    for factor in factors:
        codes = factor.codes
        spread = [len(np.unique(member[codes == c])) for c in range(len(factor.levels))]
        kept = [c for c, count in enumerate(spread) if count > 1]
        if len(kept) == len(spread):
            found.append(factor)
        elif len(kept) < 2:
            left.append(Left(factor.name, "each of its classes is in one group only, so nothing can be held out"))
        else:
            targets = np.where(np.isin(codes, kept)[:, None], factor.targets, np.nan)[:, kept]
            note = f"{len(spread) - len(kept)} classes that one group alone has are left out"
            levels = tuple(factor.levels[c] for c in kept)
            found.append(replace(factor, targets=targets, levels=levels, notes=(*factor.notes, note)))
    return found, left
