"""A file that is appended to and outlives kill -9: what was said to be there is there."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from unmix.errors import RunFolderError
from unmix.files import no_link, told_about


class GrowingFile:
    """Appended to as `….part`, and renamed when it is whole: no reader can take a part for the whole.

    Parameters
    ----------
    path : the name that it will have.
    size : the bytes that were synced before, which are kept; what was written after them is cut off.
    start : the first bytes of a new file.
    """

    def __init__(self, path: Path, size: int, start: bytes = b"") -> None:
        self.path, self._part = path, path.with_name(path.name + ".part")
        with told_about(path):
            if size and path.exists() and not self._part.exists():
                path.rename(self._part)  # stopped between the renaming of two files
            if size and (not self._part.exists() or self._part.stat().st_size < size):
                raise RunFolderError(f"{self._part} is damaged: choose another folder, or delete this one.")
            if not size:
                self._part.unlink(missing_ok=True)
            mode = "r+b" if size else "x+b"
            self._file = open(self._part, mode, opener=no_link)  # noqa: SIM115  # open as long as this object
            self._file.truncate(size)
            self._file.seek(size)
            if not size:
                self._file.write(start)

    def append(self, content: Any) -> None:
        with told_about(self.path):
            self._file.write(content)

    def sync(self) -> int:
        """See to it that all is on the disk; the size."""
        with told_about(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())
            return self._file.tell()

    def finish(self, start: bytes = b"") -> None:
        """Write the first bytes anew, and give the file its name."""
        with told_about(self.path):
            self._file.seek(0)
            self._file.write(start)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._part, self.path)

    def close(self) -> None:
        """Without a word: what was not synced is done again, and what stopped the recording is told already."""
        with suppress(OSError):  # what a full disk did not take before, it does not take now
            self._file.close()


def npy_start(rows: int, width: int, dtype: np.dtype[Any]) -> bytes:
    """The header of a .npy file, of one length for any number of rows: numpy leaves room for the first axis to grow.

    Examples
    --------
    >>> len(npy_start(0, 5, np.dtype("f4"))) == len(npy_start(10**12, 5, np.dtype("f4")))
    True
    """
    facts = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (rows, width)}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, facts)
    return buffer.getvalue()
