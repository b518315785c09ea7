"""Notes on pairs: the same note on many of them is told once."""

from __future__ import annotations

import re
from collections.abc import Iterable

LISTED = 3
NUMBER = re.compile(r"(?<!\S)\d[\d.,]*")  # by itself: names of layers have numbers too


def gathered(notes: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Each note once, with the pairs that it is about; notes that differ only in their numbers are one.

    Parameters
    ----------
    notes : the name of a pair and a note on it.

    Examples
    --------
    >>> gathered([("a, c", "5 rows are missing"), ("b, c", "all is well"), ("b, d", "7 rows are missing")])
    ('a, c: 5 rows are missing (with other numbers: b, d)', 'b, c: all is well')
    """
    alike: dict[str, dict[str, list[str]]] = {}
    for pair, note in notes:
        alike.setdefault(NUMBER.sub("", note), {}).setdefault(note, []).append(pair)
    found = []
    for (note, pairs), *others in (list(kind.items()) for kind in alike.values()):
        rest = [pair for _, some in others for pair in some]
        found.append(f"{_listed(pairs)}: {note}" + (f" (with other numbers: {_listed(rest)})" if rest else ""))
    return tuple(found)


def _listed(pairs: list[str]) -> str:
    if len(pairs) <= LISTED + 1:
        return "; ".join(pairs)
    return f"{'; '.join(pairs[:LISTED])} and {len(pairs) - LISTED} more pairs"
