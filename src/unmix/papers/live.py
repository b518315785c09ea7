"""What a person sees of a reproduction that runs: the table as it fills, and a bar a running job."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from unmix.papers.durations import duration
from unmix.papers.export import terminal
from unmix.papers.reproduction import Reproduction
from unmix.sweeps import Job, Pool


class LiveTable:
    """On a terminal the table, redrawn as it fills; elsewhere a line for each run that ends; nothing if not `shown`."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.console = shown, Console(stderr=True, highlight=False)
        self.live = Live(console=self.console, refresh_per_second=4, transient=True, vertical_overflow="crop")
        self.began, self.ended, self.total = time.perf_counter(), 0, 0
        self.table = Table()

    def __enter__(self) -> LiveTable:
        if self.shown and self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.live.stop()

    def update(self, found: Reproduction, pool: Pool, ended: Sequence[Job]) -> None:
        if not self.shown:
            return
        self.ended += len(ended)
        self.total = self.ended + len(pool.running) + len(pool.waiting)
        if self.console.is_terminal:
            if ended or not self.table.columns:
                self.table = terminal(found)
            self.live.update(Group(self._bars(pool), self.table))
            return
        for job in ended:
            result, why = pool.store.result(job), pool.store.failure(job)
            scores = (result or {}).get("scores", {})
            outcome = ", ".join(f"{name} {value:.4f}" for name, value in scores.items()) or "done"
            spent = duration(result.get("seconds")) if result else ""
            text = f"{outcome}  {spent}" if result else f"failed: {why}"
            print(f"[{self.ended}/{self.total}] {job!s}: {text}", file=sys.stderr, flush=True)

    def _bars(self, pool: Pool) -> Table:
        """The running jobs, and how many there are to come."""
        grid = Table.grid(padding=(0, 1))
        spent = duration(time.perf_counter() - self.began)
        grid.add_row("[bold]runs[/]", ProgressBar(self.total, self.ended, 30), f"{self.ended} of {self.total}, {spent}")
        for job in pool.running:
            at = job.progress(pool.store.path(job))
            if at is None:
                grid.add_row(str(job), "", "starting or measuring")
            else:
                loss = "" if at.loss is None else f", loss {at.loss:.4f}"
                grid.add_row(str(job), ProgressBar(at.total, at.done, 30), f"{at.done:,} of {at.total:,}{loss}")
        return grid
