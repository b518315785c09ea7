"""The names of inputs: as they are given, and of each batch."""

from __future__ import annotations

from collections.abc import Iterable

from unmix.activations.batches import Batch
from unmix.errors import require


def names_of(ids: Iterable[object] | None) -> list[str] | None:
    """The ids as text: they go to a file with one a line, and name rows that are to be joined.

    Examples
    --------
    >>> names_of(range(3))
    ['0', '1', '2']
    """
    if ids is None:
        return None
    names = [str(name) for name in ids]
    # A reader of the file splits lines at more than \n, and takes \ufeff at its start for a mark of the encoding.
    wrong = [name for name in names if name.splitlines() != [name] or name.startswith("\ufeff")]
    require(not wrong, f"an id must be one line of text, not {wrong[:1]}: give ids without line breaks and marks.")
    require(len(set(names)) == len(names), "some ids occur more than once: give every input its own.")
    return names


def batch_names(names: list[str] | None, start: int, batch: Batch) -> list[str]:
    """Of the batch whose first input is number `start`: their ids, or else their numbers.

    The inputs may come without an end that is known, so that ids run out only here.
    """
    if names is None:
        return list(map(str, range(start, start + len(batch))))
    require(start + len(batch) <= len(names), f"there are {len(names)} ids for more inputs: give one for each.")
    return names[start : start + len(batch)]


def require_all_named(names: list[str], inputs: int) -> None:
    """Refuse ids that are more or fewer than the inputs."""
    require(len(names) == inputs, f"there are {len(names)} ids for {inputs} inputs: give one for each.")
