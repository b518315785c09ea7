"""Whether there is room for what a file unpacks to, before it is unpacked: a few megabytes may become terabytes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unmix.errors import InputError, require

SHARE = 0.9  # of what is free: others live there too


def require_disk(need: int, name: str, have: int | None = None) -> None:
    """Refuse what would fill the temporary folder."""
    have = disk() if have is None else have
    require(
        need <= have,
        f"{name} unpacks to {told(need)} or more and the temporary folder has room for {told(have)}: point TMPDIR to a "
        "larger disk, or give fewer rows or columns.",
    )


def require_memory(need: int, name: str) -> None:
    """Refuse what would fill the memory."""
    have = memory()
    require(
        need <= have,
        f"{name} takes {told(need)} or more of memory and there is room for {told(have)}: give fewer rows or columns.",
    )


@contextmanager
def writing(name: str) -> Iterator[None]:
    """A temporary folder that is full all the same is told in one sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{name} does not fit in the temporary folder ({error.strerror}): point TMPDIR to a larger disk."
        ) from error


def disk() -> int:
    """How many bytes may be written to the temporary folder."""
    return int(SHARE * shutil.disk_usage(tempfile.gettempdir()).free)


def memory() -> int:
    """How many bytes of memory may be taken: of what is available where the system says so, else of all there is."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return int(SHARE * 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")))
    except (OSError, StopIteration):
        known = hasattr(os, "sysconf")
        return int(SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if known else 2**62


def told(size: int) -> str:
    """A number of bytes in words.

    Examples
    --------
    >>> told(3 * 10**9), told(20_000_000)
    ('3.0 GB', '20.0 MB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:,} bytes"
