"""How much memory the machine has, and refusing at the door what can never fit into it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from unmix.errors import require

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


@cache
def machine() -> int | None:
    """Bytes of memory that there are, used or not; None where the system does not tell.

    Examples
    --------
    >>> (machine() or 2**33) > 2**27
    True
    """
    try:
        there = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, ValueError, OSError):  # Windows
        return None
    for file in map(Path, LIMITS):
        text = file.read_text().strip() if file.exists() else ""
        there += [int(text)] if text.isdigit() else []
    return min(there)


def require_room(needed: int, what: str, remedy: str) -> None:
    """Refuse what takes `needed` bytes at the least, if the machine has fewer.

    Examples
    --------
    >>> require_room(10**30, "a table of 10^30 bytes", "take fewer rows")
    Traceback (most recent call last):
    unmix.errors.InputError: a table of 10^30 bytes takes more than 1,000,000 GB of memory and this machine has ...
    """
    there = machine()
    if there is None or needed <= there:
        return
    told = f"{needed / 2**30:,.0f}" if needed < 10**15 else "more than 1,000,000"
    require(False, f"{what} takes {told} GB of memory and this machine has {there / 2**30:,.0f}: {remedy}.")
