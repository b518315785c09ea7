"""Files that are written whole or not at all, and refusals of the system in words."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unmix.errors import RunFolderError

REMEDIES = {
    errno.ENOSPC: "free some space, or choose a folder on another disk",
    errno.EDQUOT: "free some space, or choose a folder on another disk",
    errno.EFBIG: "raise the limit on file sizes, or choose a folder on another disk",
}


def write_atomically(path: Path, content: bytes) -> None:
    """All of the content or none of it: a temporary file in the same folder, synced, then renamed."""
    temporary = path.with_name(path.name + ".tmp")
    with told_about(path):
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


def write_json(path: Path, value: Any) -> None:
    """Plain values as JSON for people to read, atomically."""
    write_atomically(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> Any:
    try:
        with told_about(path):
            return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise RunFolderError(f"{path} is damaged: choose another folder, or delete this one.") from None


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
