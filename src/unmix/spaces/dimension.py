"""How many dimensions a space may have."""

from __future__ import annotations

from unmix.errors import require

MOST = 30_000  # one d × d matrix of doubles is 7 GB, and a mixing alone has several


def require_dimension(dimension: int) -> None:
    """Refuse more dimensions than a matrix of them can be held in memory.

    Examples
    --------
    >>> require_dimension(10**6)
    Traceback (most recent call last):
    unmix.errors.InputError: a space has at most 30,000 dimensions, not 1e+06: take fewer.
    """
    told = f"{dimension:.0e}" if dimension < 10**300 else "more than 1e+300"
    require(dimension <= MOST, f"a space has at most {MOST:,} dimensions, not {told}: take fewer.")
