"""A progress bar for resamples and permutations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


@contextmanager
def meter(total: int, shown: bool) -> Iterator[tuple[Progress, TaskID]]:
    """A bar on the error stream that counts to `total`, or one that is not shown."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        yield bar, bar.add_task("reading", total=total)
