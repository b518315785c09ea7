"""Which factors are asked for in one pass over the rows: those known in the same rows, and few enough."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.factors import Factor
from unmix.measures.resample import WIDE

FEWEST = 100


def passes(factors: Sequence[Factor], width: int) -> list[list[list[Factor]]]:
    """For each set of rows in which factors are known, the factors of each pass.

    A pass holds second moments of all its columns, of the embedding and of the factors, so its cost is quadratic in
    them: of many factors, it is lowest where both are about as many. Beyond `WIDE`, nulls would be taken on one fold.
    """
    most = min(max(width, FEWEST), WIDE)
    patterns: dict[bytes, list[list[Factor]]] = {}
    for factor in factors:
        there = patterns.setdefault(factor.pattern, [[]])
        if there[-1] and columns_of([*there[-1], factor]) > most:
            there.append([])
        there[-1].append(factor)
    return list(patterns.values())


def columns_of(factors: Sequence[Factor]) -> int:
    """How many targets factors have."""
    return sum(f.targets.shape[1] for f in factors)
