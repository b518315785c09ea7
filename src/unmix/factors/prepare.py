"""Columns to factors: kinds stated or inferred, and what cannot be asked for left out with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unmix.errors import InputError, require, require_kind
from unmix.factors.factor import Factor, Left
from unmix.factors.infer import inferred
from unmix.factors.kinds import Kind
from unmix.tables import Column
from unmix.tables.rounding import only_rounding


def prepared(
    columns: Sequence[Column], kinds: Mapping[str, Kind] | None = None, *, fewest: int = 10
) -> tuple[list[Factor], list[Left]]:
    """The factors that can be asked for, and those that cannot.

    Parameters
    ----------
    kinds : by name, for those whose kind should not be inferred.
    fewest : the rows that a factor, and each class of a categorical one, must have.

    Examples
    --------
    >>> found, left = prepared([Column.of("a", np.arange(50.0)), Column.of("b", np.ones(50))])
    >>> [f.name for f in found], left[0].reason
    (['a'], 'it has one value only: nothing can be told apart')
    """
    require_kind(kinds or {}, Mapping, "kinds", '{"heading": um.factors.Periodic(360)}')
    kinds = dict(kinds or {})
    names = [c.name for c in columns]
    unknown = sorted(set(kinds) - set(names))
    require(not unknown, f"there is no factor {', '.join(unknown)}: there are {', '.join(names[:20])}.")
    found: list[Factor] = []
    left: list[Left] = []
    for column in columns:
        if column.name in kinds:
            stated = kinds[column.name]
            told = None if isinstance(stated, str) else stated  # a word has an `encode` too
            require_kind(told, Kind, f"the kind of {column.name}", "um.factors.Periodic(360)")
        made = _factor(column, kinds.get(column.name), fewest)
        if isinstance(made, Factor):
            found.append(made)
        else:
            left.append(made)
    reasons = "; ".join(f"{some.name}: {some.reason}" for some in left)
    require(bool(found), f"no factor can be asked for. {reasons}.")
    return found, left


def _factor(column: Column, stated: Kind | None, fewest: int) -> Factor | Left:
    there = int(column.present.sum())
    if there < fewest:
        return Left(column.name, f"it has {there} values, fewer than {fewest}: give more rows")
    known = (column.numbers if column.codes is None else column.codes)[column.present]
    if (known == known[0]).all():
        return Left(column.name, "it has one value only: nothing can be told apart")
    if column.codes is None and only_rounding(known[:, None])[0]:
        return Left(column.name, "it varies by no more than rounding: nothing can be told apart")
    try:
        kind = stated if stated is not None else inferred(column)
        targets, levels, notes = kind.encode(column, fewest)
    except InputError as error:
        if stated is not None:
            raise
        return Left(column.name, str(error).rstrip("."))
    moving = [np.nanmin(t) < np.nanmax(t) for t in targets.T] if targets.size and not np.isnan(targets).all() else []
    if (levels and len(levels) == 1) or not targets.shape[1]:
        many = f"it has {len(set(column.words[column.present]))} different values and looks like an id"
        why = many if len(known) > fewest and not levels else f"fewer than two classes have {fewest} rows"
        return Left(column.name, f"{why}: merge classes, or give more rows")
    if not any(moving):
        return Left(column.name, f"it does not vary as {kind}: say of which kind it is")
    return Factor(column.name, kind, stated is not None, targets[:, moving], levels, notes)
