"""Files that are written whole or not at all, and refusals of the system in words."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from unmix.errors import RunFolderError

REMEDIES = {
    errno.ENOSPC: "free some space, or choose a folder on another disk",
    errno.EDQUOT: "free some space, or choose a folder on another disk",
    errno.EFBIG: "raise the limit on file sizes, or choose a folder on another disk",
    errno.ELOOP: "it is a link to somewhere else: delete it, or choose another folder",
}
TEMPORARY = re.compile(r"\.unmix-[0-9a-f]{16}\.tmp")
ABANDONED = 24 * 3600  # seconds without a write, after which a temporary file is one of a writer that was killed


def write_atomically(path: Path, content: bytes) -> None:
    """All of the content or none of it (`replacing`)."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file in the same folder that takes the name once it is whole and on the disk; if that fails, it is removed.

    Every writer draws a name for it that is not there yet: two never write to one file, and a link that waits under
    some name is not followed. Whoever reads finds the old content or the new.
    """
    with told_about(path):
        _remove_abandoned(path.parent)
        temporary = path.with_name(f".unmix-{secrets.token_hex(8)}.tmp")
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        _sync(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Plain values as JSON for people to read, atomically."""
    write_atomically(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> Any:
    try:
        with told_about(path):
            return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise RunFolderError(f"{path} is damaged: choose another folder, or delete this one.") from None


def no_link(path: str, flags: int) -> int:
    """The opener of files that are written in place, `open(..., opener=no_link)`: where a link leads is not ours."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


@contextmanager
def told_about(path: Path) -> Iterator[None]:
    """Turn the system's refusal (a full disk, a read-only folder) into one sentence."""
    try:
        yield
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0, "choose a folder that you may write to")
        raise RunFolderError(
            f"cannot use {path}: {error.strerror or error}; {remedy}. Nothing written before was changed."
        ) from error


@cache
def _remove_abandoned(folder: Path) -> None:
    """Once a process and folder: what writers that were killed left there."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if TEMPORARY.fullmatch(entry.name) and time.time() - entry.stat(follow_symlinks=False).st_mtime > ABANDONED:
                os.unlink(entry.path)


def _sync(folder: Path) -> None:
    """See to it that the new name is on the disk too, where the system can do that (Windows cannot)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
