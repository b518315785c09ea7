"""Names in a sentence, however many there are."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 20


def in_a_row(names: Sequence[str]) -> str:
    """The names with commas between, the first twenty of them where there are more.

    Examples
    --------
    >>> in_a_row(["a", "b"]), in_a_row([str(i) for i in range(500)])[-17:]
    ('a, b', ', 19 and 480 more')
    """
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
