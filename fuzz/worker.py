"""Trials in a process of its own, with bounds of time and memory: a crash or an endless call is an outcome too."""

from __future__ import annotations

import resource
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fuzz.targets import targets
from fuzz.trial import DIED, HUNG, Outcome, tried

SECONDS, START = 60, 600
MEMORY = 6 * 2**30  # of addresses: torch and numba alone take two


class Worker:
    """Runs one case after another; `run` starts the process again where a case ended it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed, self.names = folder, seed, list[str]()
        self._start()

    def _start(self) -> None:
        here, there = get_context("spawn").Pipe()
        self.process: Any = get_context("spawn").Process(
            target=_serve, args=(there, self.folder, self.seed), daemon=True
        )
        self.process.start()
        there.close()
        self.connection: Connection = here
        if not here.poll(START):
            raise TimeoutError(f"the worker of the fuzz did not start in {START} s.")
        self.names = here.recv()

    def run(self, case: int) -> Outcome:
        self.connection.send(case)
        target = self.names[case % len(self.names)]
        try:
            if self.connection.poll(SECONDS):
                found: Outcome = self.connection.recv()
                return found
            lost = Outcome(case, target, HUNG, f"more than {SECONDS} s")
        except EOFError:
            self.process.join()
            lost = Outcome(case, target, DIED, f"exit code {self.process.exitcode}")
        self.close()
        self._start()
        return lost

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, folder: Path, seed: int) -> None:
    """The good files first, then a case for each number that comes."""
    known = targets(folder / "good")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    connection.send([target.name for target in known])
    while True:
        connection.send(tried(known, connection.recv(), seed, folder / "scratch"))
