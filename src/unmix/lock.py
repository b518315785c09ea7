"""A lock that the system itself lets go of, however the process that held it ended."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unmix.errors import RunFolderError
from unmix.files import no_link, told_about

POLL, GRACE = 0.05, 0.2  # seconds; whoever looks whether it is held (`is_locked`) holds it for an instant


@contextmanager
def locked(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock of this file, one holder at a time among all threads and processes.

    Parameters
    ----------
    wait : for whoever holds it now, instead of refusing at once.
    """
    with told_about(path):
        file = open(path, "ab", opener=no_link)  # noqa: SIM115
    with file:
        deadline = time.monotonic() + (math.inf if wait else GRACE)
        while not _taken(file.fileno(), path):
            if time.monotonic() > deadline:
                raise _refusal(path)
            time.sleep(POLL)
        try:
            yield
        finally:
            _let_go(file.fileno())  # closing would not, where a child has the file too


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock of this file right now; no where that cannot be told, as `locked` then says."""
    try:
        with open(path, "rb", opener=no_link) as file:
            free = _taken(file.fileno(), path)
            if free:
                _let_go(file.fileno())
            return not free
    except (OSError, RunFolderError):
        return False


def require_free(path: Path) -> None:
    """Refuse a folder that somebody is working in, before any work is done for it."""
    if is_locked(path):
        raise _refusal(path)


def _refusal(path: Path) -> RunFolderError:
    return RunFolderError(f"another process is working in {path.parent}: wait for it, or choose another folder.")


if sys.platform == "win32":
    import msvcrt

    def _taken(handle: int, path: Path) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _taken(handle: int, path: Path) -> bool:
        with told_about(path):  # a network disk may have no locks
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    def _let_go(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
