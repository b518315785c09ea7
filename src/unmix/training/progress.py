"""What a person sees of a running fit: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

PLAIN_LINES = 10
T = TypeVar("T")


class FitProgress:
    """Shows step, loss, time and time left on stderr; nothing if not `shown`."""

    def __init__(self, steps: int, start: int, shown: bool) -> None:
        self.steps, self.start, self.shown = steps, start, shown
        self.began = time.perf_counter()
        self.bar: Progress | None = None
        self.task = TaskID(0)

    def __enter__(self) -> FitProgress:
        console = Console(stderr=True)
        if self.shown and self.start > 0:
            console.print(f"going on from step {self.start}", highlight=False)
        if self.shown and console.is_terminal:
            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(),
                TextColumn("{task.completed}/{task.total}  {task.fields[note]}"),
                TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=console,
            )  # fmt: skip
            self.task = self.bar.add_task("training", total=self.steps, completed=self.start, note="starting")
            self.bar.start()
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self.bar:
            self.bar.stop()

    def blocks(self, blocks: Sequence[T]) -> Iterable[T]:
        """Hand on blocks of labels whose rows of the head are found after the last step, and show how far they are."""
        if self.bar:
            return self.bar.track(blocks, task_id=self.bar.add_task("finding rows", note="of the labels left out"))
        if self.shown:
            print("finding the rows of the labels that were left out", file=sys.stderr, flush=True)
        return blocks

    def update(self, step: int, loss: float) -> None:
        if self.bar:
            self.bar.update(self.task, completed=step, note=f"loss {loss:.4f}")
        elif self.shown and (step * PLAIN_LINES // self.steps > (step - 1) * PLAIN_LINES // self.steps):
            spent = time.perf_counter() - self.began
            left = spent / (step - self.start) * (self.steps - step)
            print(
                f"step {step}/{self.steps}  loss {loss:.4f}  {spent:.0f} s, about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
