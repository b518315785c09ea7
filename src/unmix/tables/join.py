"""Rows of several tables brought to one order by their ids; ids that differ are a loud failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int64, Shaped
from numpy import ndarray

from unmix.errors import require
from unmix.tables.labels import labels_of, require_labels
from unmix.tables.spool import spool
from unmix.tables.table import Table

STEP = 2**14


def matching(
    ids: Sequence[Any], names: Sequence[str], called: str = "ids", otherwise: str = ""
) -> list[Int64[ndarray, " n"]]:
    """For each table, the order that brings its rows to the order of the first one.

    Parameters
    ----------
    called, otherwise : what the ids are, and another remedy where they differ, for the sentences that refuse them.

    Examples
    --------
    >>> [order.tolist() for order in matching([["a", "b"], ["b", "a"]], ["one", "two"])]
    [[0, 1], [1, 0]]
    """
    labels = [labels_of(i, f"the {called} of {name}") for i, name in zip(ids, names, strict=True)]
    for label, name in zip(labels, names, strict=True):
        require_labels(label, f"the {called} of {name}")
    if any(label.dtype.kind in "USO" for label in labels):
        labels = [label.astype(str) for label in labels]  # 7 in one file and "7" in another are one id
    first, orders = labels[0], []
    for label, name in zip(labels, names, strict=True):
        require(label.ndim == 1, f"the {called} of {name} must be one a row, not of shape {label.shape}.")
        values, counts = np.unique(label, return_counts=True)
        require(
            bool((counts == 1).all()),
            f"{_some(values[counts > 1][:1])} is there more than once among the {called} of {name}: make them unique"
            f"{otherwise}.",
        )
        for ours, theirs, other in ((first, label, name), (label, first, names[0])):
            lost = np.setdiff1d(ours, theirs)
            require(
                not len(lost),
                f"{len(lost)} {called} of {names[0] if other == name else name} are not in {other}, such as "
                f"{_some(lost)}: give tables of the same rows{otherwise}.",
            )
        order = np.empty(len(label), np.int64)
        order[np.argsort(first, kind="stable")] = np.argsort(label, kind="stable")
        orders.append(order)
    return orders


def joined(table: Table, order: Int64[ndarray, " n"]) -> Table:
    """The table with its rows in another order."""
    if np.array_equal(order, np.arange(len(table))):
        return table
    rows = spool((table.values[order[a : a + STEP]] for a in range(0, len(order), STEP)), table.name)
    labels = {key: value[order] for key, value in table.labels.items()}
    return Table(table.name, rows, table.columns, labels, None if table.index is None else table.index[order])


def _some(labels: Shaped[ndarray, " n"]) -> str:
    return ", ".join(map(str, labels[:3].tolist()))
