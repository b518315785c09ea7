"""Many processes at once, which cost one import of unmix together; and a job for workers."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

SERVER = get_context("forkserver")
SERVER.set_forkserver_preload(["unmix", "unmix.estimators"])


def in_processes(function: Callable, *arguments: Sequence) -> list:
    """What the function of a test module gives for each argument, or the error it raised, all at the same time."""
    count = len(arguments[0])
    with ProcessPoolExecutor(count, mp_context=SERVER) as pool:
        running = [pool.submit(function, *these) for these in zip(*arguments, strict=True)]
        return [r.exception() or r.result() for r in running]


@dataclass(frozen=True)
class Noted:
    """A job that notes that it was run, and takes its time when it is run first."""

    number: int
    seconds: float = 1

    def run(self, folder: Path) -> dict:
        first = not (folder / "runs").exists()
        with open(folder / "runs", "a") as file:
            file.write("run\n")
        time.sleep(self.seconds * first)
        return {"number": self.number}

    def progress(self, folder: Path) -> None:
        return None
