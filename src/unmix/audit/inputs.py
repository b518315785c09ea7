"""The door of an audit: an embedding and factors of the same rows, in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from unmix.errors import require
from unmix.factors import Factor, Kind, Left, prepared
from unmix.tables import Column, Table, matching, read, read_columns, require_labels

NAMES = "the embedding", "the factors"


@dataclass(frozen=True, eq=False)
class Inputs:
    table: Table
    factors: list[Factor]
    left: list[Left]
    groups: Shaped[ndarray, " n"] | None


def inputs(
    embedding: Any,
    factors: Any,
    kinds: Mapping[str, Kind] | None,
    only: Sequence[str] | None,
    ids: str | Sequence[Any] | None,
    groups: str | Any,
    name: str | None,
    folds: int,
) -> Inputs:
    """Read, join by ids, take groups out of the factors, and give every factor its kind."""
    require(isinstance(folds, int) and 2 <= folds <= 32, f"folds must be a whole number from 2 to 32, not {folds!r}.")
    named = isinstance(embedding, (str, Path, Table))
    wanted = [ids] if isinstance(ids, str) else []
    table = read(embedding, name or (None if named else NAMES[0]), labels=wanted)
    labels = [label for label in (ids, groups) if isinstance(label, str)]
    columns = {c.name: c for c in read_columns(factors, words=labels)}
    if ids is not None:
        columns = _joined(table, columns, ids)
    count = len(next(iter(columns.values()))) if columns else len(table)
    require(
        count == len(table),
        f"{table.name} has {len(table)} rows and the factors {count}: give the same rows in the same order, or ids to "
        "join by.",
    )
    if isinstance(groups, str):
        require(groups in columns, f"the factors have no column {groups}: there are {', '.join(list(columns)[:20])}.")
        members = columns.pop(groups).words
        require_labels(members, "groups")
        groups = members.astype(str)
    if only is not None:
        unknown = [c for c in only if c not in columns]
        require(not unknown, f"there is no factor {', '.join(unknown)}: there are {', '.join(list(columns)[:20])}.")
        columns = {c: columns[c] for c in only}
    require(bool(columns), "no factor is left: give at least one column besides ids and groups.")
    least = 4 * folds
    require(len(table) >= least, f"{len(table)} rows are too few for {folds} folds: give at least {least} rows.")
    asked, left = prepared(list(columns.values()), kinds, fewest=2 * folds)
    return Inputs(table, asked, left, None if groups is None else np.asarray(groups))


def _joined(table: Table, columns: dict[str, Column], ids: str | Sequence[Any]) -> dict[str, Column]:
    """The factors in the order of the embedding."""
    if isinstance(ids, str):
        require(ids in table.labels, f"{table.name} has no named columns: give a list of ids for each table.")
        require(ids in columns, f"the factors have no column {ids}: there are {', '.join(list(columns)[:20])}.")
        ours, theirs = read_columns({ids: table.labels[ids]}, words=[ids])[0].words, columns[ids].words
        columns = {name: c for name, c in columns.items() if name != ids}
    else:
        require(len(ids) == 2, f"there are {len(ids)} lists of ids: give one for each table.")
        ours, theirs = (np.asarray(labels) for labels in ids)
    count = len(next(iter(columns.values()))) if columns else len(theirs)
    for labels, rows, title in ((ours, len(table), table.name), (theirs, count, NAMES[1])):
        require(len(labels) == rows, f"{title} has {rows} rows and {len(labels)} ids: give one id a row.")
    _, order = matching([ours, theirs], [table.name, NAMES[1]])
    return {name: c.rows(order) for name, c in columns.items()}
