"""Rows that carry names, the index of a pandas object: joined by them before anything takes rows by their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Int64, Shaped
from numpy import ndarray

from unmix.errors import require
from unmix.tables.join import joined, matching
from unmix.tables.labels import is_gap
from unmix.tables.table import Table

Index = Shaped[ndarray, " n"]
Order = Int64[ndarray, " n"]
REMEDY = ", or reset_index(drop=True) all to take rows by their places"


def in_one_order(sources: Sequence[Any], names: Sequence[str], time: bool = False) -> tuple[list[Any], dict[str, str]]:
    """Tables and labels of the same rows, all in the order of the first; and what was done, by name.

    Rows are joined by the index of pandas frames and series: they must have the same labels, each once. An index
    0, 1, 2, … is what pandas gives rows without names; next to one of other labels it is left out, with a note. So is
    what has no index.

    Parameters
    ----------
    sources : tables, labels, or mappings of names to them; None and what has no index stay as they are.
    time : rows are in time, so all must be in one order already.
    """
    parts = [
        dict(source) if isinstance(source, Mapping) else {name: source}
        for source, name in zip(sources, names, strict=True)
    ]
    titles = [str(title) for part in parts for title in part]
    orders, notes = orders_of([index_of(value) for part in parts for value in part.values()], titles, time)
    order = iter(orders)
    put = [{key: moved(value, next(order)) for key, value in part.items()} for part in parts]
    whole = [isinstance(source, Mapping) for source in sources]
    return [part if kept else next(iter(part.values())) for part, kept in zip(put, whole, strict=True)], notes


def index_of(source: Any) -> Index | None:
    """The labels of the rows of a pandas frame or series, or of what is like one; None of anything else.

    Examples
    --------
    >>> index_of([[1, 2], [3, 4]]) is None
    True
    """
    if isinstance(source, Table):
        return source.index
    if not hasattr(source, "iloc") or not hasattr(source, "index"):
        return None
    plain = source.index.to_numpy()
    if plain.dtype.kind in "iu":
        return np.asarray(plain, np.int64)
    labels = list(source.index)  # of several levels they are tuples
    return np.array([None if is_gap(label) and not isinstance(label, str) else str(label) for label in labels], object)


def orders_of(
    indexes: Sequence[Index | None], names: Sequence[str], time: bool = False
) -> tuple[list[Order | None], dict[str, str]]:
    """The order that brings the rows of each to those of the first index; None where they stay.

    Parameters
    ----------
    time : rows are in time, so all must be in one order already.

    Examples
    --------
    >>> orders, notes = orders_of([np.array(["a", "b"]), None, np.array(["b", "a"])], ["x", "y", "z"])
    >>> print(orders[:2], orders[2], notes["z"])
    [None, None] [1 0] the rows of z were joined to those of x by their index
    """
    orders: list[Order | None] = [None] * len(indexes)
    notes: dict[str, str] = {}
    found = {i: index for i, index in enumerate(indexes) if index is not None}
    naming = [i for i, index in found.items() if not _numbered(index)]
    if len(found) < 2 or not naming:
        return orders, notes
    first, anchor = next(iter(found)), naming[0]
    for i, index in found.items():
        if np.array_equal(index, found[anchor]):
            orders[i] = np.arange(len(index))
        elif _numbered(index) and not _shuffled(found[anchor], len(index)):
            _require_once(found[anchor], names[anchor])
            notes[names[i]] = (
                f"the rows of {names[i]} were taken by their places: its index 0, 1, 2, … does not name those of "
                f"{names[anchor]}"
            )
        else:
            asked = [names[anchor], names[i]]
            orders[i] = matching([found[anchor], index], asked, "index labels", REMEDY)[1]
    if (back := orders[first]) is not None:  # the first stays, and what has no index stays next to it
        orders = [None if order is None else order[np.argsort(back)] for order in orders]
    for i, order in enumerate(orders):
        if order is not None and np.array_equal(order, np.arange(len(order))):
            orders[i] = None
        elif order is not None:
            require(
                not time,
                f"the index of {names[i]} is in another order than that of {names[first]}, so one of the two is not in "
                "time: sort both by time first.",
            )
            notes[names[i]] = f"the rows of {names[i]} were joined to those of {names[first]} by their index"
    return orders, notes


def moved(source: Any, order: Order | None) -> Any:
    """A table or labels with its rows in that order; None leaves them."""
    if order is None:
        return source
    return joined(source, order) if isinstance(source, Table) else source.iloc[order]


def require_agreement(sources: Sequence[Any], orders: Sequence[Order], names: Sequence[str]) -> None:
    """Refuse rows that ids join and whose indexes name them otherwise."""
    indexes = [index_of(source) for source in sources]
    named = [(i, order, name) for i, order, name in zip(indexes, orders, names, strict=True) if i is not None]
    told = [(index[order], name) for index, order, name in named if not _numbered(index)]
    for (ours, one), (theirs, other) in combinations(told, 2):
        apart = np.flatnonzero(ours.astype(str) != theirs.astype(str))
        require(
            not len(apart) or set(ours.tolist()) != set(theirs.tolist()),
            f"ids join the row {ours[min(apart, default=0)]} of {one} to the row {theirs[min(apart, default=0)]} of "
            f"{other}, as their index calls them: correct the ids, or reset_index(drop=True) where it names no rows.",
        )


def require_no_ids(sources: Sequence[Any], names: Sequence[str], remedy: str) -> None:
    """Refuse frames that share a column which names rows: such as an id, of which polars makes no index.

    Several such columns name rows if two of them put the rows into one other order; ranks would not do so.
    """
    columns = [_columns(source) for source in sources]
    for (ours, one), (theirs, other) in combinations(list(zip(columns, names, strict=True)), 2):
        shared = [c for c in ours if c in theirs and min(len(ours), len(theirs)) > 1 and _naming(ours[c], theirs[c])]
        orders = [_places(ours[c], theirs[c]) for c in shared]
        still = tuple(range(len(orders[0]))) if orders else ()
        named = [c for c, order in zip(shared, orders, strict=True) if order != still and orders.count(order) > 1]
        named = shared if len(shared) == 1 else named
        require(not named, f"{one} and {other} both name their rows in the column {', '.join(named[:1])}: {remedy}.")


def _numbered(index: Index) -> bool:
    """Whether it is 0, 1, 2, …, as by default: no more than the places of rows."""
    return index.dtype.kind == "i" and np.array_equal(index, np.arange(len(index)))


def _shuffled(index: Index, rows: int) -> bool:
    """Whether it is 0, 1, 2, … of so many rows, in any order."""
    return index.dtype.kind == "i" and np.array_equal(np.sort(index), np.arange(rows))


def _require_once(index: Index, name: str) -> None:
    matching([index, index], [name, name], "index labels", REMEDY)


def _columns(source: Any) -> dict[str, Any]:
    """The columns of a frame or of a mapping, by name."""
    if isinstance(source, Mapping):
        return {str(name): values for name, values in source.items()}
    if hasattr(source, "column_names") and hasattr(source, "schema"):  # arrow's
        return {
            name: source[name] for name in dict.fromkeys(source.column_names) if source.column_names.count(name) < 2
        }
    frame = hasattr(source, "to_numpy") and hasattr(source, "columns")
    return {str(name): source[name] for name in source.columns} if frame else {}


def _naming(ours: Any, theirs: Any) -> bool:
    """Whether two columns hold words or whole numbers, each once, and share at least half of them."""
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.ndim != 1 or a.shape != b.shape or not all(_nameable(values) for values in (a, b)):
        return False
    try:
        first, second = set(a.tolist()), set(b.tolist())
    except TypeError:  # lists, which are no names
        return False
    return len(first) == len(second) == len(a) and 2 * len(first & second) >= len(a)


def _places(ours: Any, theirs: Any) -> tuple[int, ...]:
    """Where each of our labels stands among theirs; −1 where it does not."""
    place = {label: row for row, label in enumerate(np.asarray(theirs).tolist())}
    return tuple(place.get(label, -1) for label in np.asarray(ours).tolist())


def _nameable(values: Shaped[ndarray, " n"]) -> bool:
    """Whether they could be names: words, or whole numbers, also where gaps or a join made floats of them."""
    if values.dtype.kind == "f":
        return bool((np.isfinite(values) & (values == np.round(values))).all())
    return values.dtype.kind in "iuUO"
