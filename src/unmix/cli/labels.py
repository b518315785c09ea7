"""Ids and groups on the command line: the name of a column, or a file of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmix.errors import require
from unmix.tables import read_labels


def labels_or_column(text: str | None) -> Any:
    """The labels of a file, or the name of a column as it is."""
    if text is None or not _is_file(text):
        return text
    return read_labels(text)


def id_labels(ids: list[str] | None) -> Any:
    """The name of a column, or the labels of a file for each table."""
    if not ids:
        return None
    if len(ids) == 1 and not _is_file(ids[0]):
        return ids[0]
    return [read_labels(file) for file in ids]


def _is_file(text: str) -> bool:
    """Whether a label option names a file rather than a column."""
    looks = Path(text).suffix.lower() in (".txt", ".npy")
    require(not looks or Path(text).is_file(), f"there is no file {text}.")
    return Path(text).is_file()
