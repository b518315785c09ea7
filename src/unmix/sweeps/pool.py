"""Jobs in worker processes, as many at a time as there are workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from unmix.errors import require
from unmix.files import no_link, told_about, write_json
from unmix.sweeps.job import Job, key
from unmix.sweeps.store import FAILURE, JobStore

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
LOG, PATIENCE = "worker.log", 30


class Pool:
    """Runs jobs side by side, one thread each; one that fails does not stop the others.

    Jobs whose result is in the store are not run again, and those that another pool is at are left to it: two in one
    folder share the work. Leaving the context stops the workers after the step they are at, and keeps what they have.

    Parameters
    ----------
    workers : processes at a time; None is as many as there are cores.

    Examples
    --------
    >>> with Pool([], JobStore("nowhere")) as pool:
    ...     [job for job in pool.finished()]
    []
    """

    def __init__(self, jobs: Iterable[Job], store: JobStore, workers: int | None = None) -> None:
        count = cores() if workers is None else workers
        require(count >= 1, f"there must be at least 1 worker, not {count}.")
        self.store, self.workers = store, count
        once = {key(job): job for job in jobs}  # by name: jobs that compare equal may differ in their files (1 and 1.0)
        self.waiting = [job for job in once.values() if store.result(job) is None]
        self.running: dict[Job, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        for process in self.running.values():
            if os.name == "nt":  # there is no gentle way there; the last checkpoint is kept
                process.terminate()
            else:
                process.send_signal(signal.SIGINT)
        for process in self.running.values():
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

    def finished(self) -> Iterator[Job]:
        """Start what there is room for; the jobs that ended since the last call, whether well or not."""
        yield from self._next()
        for job, process in list(self.running.items()):
            if process.poll() is not None:
                del self.running[job]
                self._account(job, process.returncode)
                yield job

    def _next(self) -> list[Job]:
        """Start jobs that nobody is at while there is room; those that another pool has finished are given back."""
        left, ended = [], []
        for job in self.waiting:
            if len(self.running) >= self.workers or job in self.running:  # an equal one, of another file
                left.append(job)
            elif self.store.result(job) is not None:
                ended.append(job)
            elif self.store.taken(job):
                left.append(job)
            else:
                self._start(job)
        self.waiting = left
        return ended

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def _start(self, job: Job) -> None:
        folder, kind = self.store.prepare(job), type(job)
        with told_about(folder / LOG):
            log = open(folder / LOG, "ab", opener=no_link)  # noqa: SIM115
        with log:
            self.running[job] = subprocess.Popen(
                [sys.executable, "-m", "unmix.sweeps.worker", str(folder), f"{kind.__module__}:{kind.__qualname__}"],
                stdin=subprocess.PIPE,  # it closes when this process ends, even by kill -9, and the worker ends too
                stdout=log,
                stderr=log,
                env=os.environ | ONE_THREAD,
                start_new_session=True,  # Ctrl-C in a terminal reaches this process alone, which passes it on
            )

    def _account(self, job: Job, code: int) -> None:
        """A worker that died without a word (out of memory, killed) has failed too."""
        if self.store.result(job) is None and self.store.failure(job) is None:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            folder = self.store.path(job)
            write_json(folder / FAILURE, {"error": f"the worker {how}; see {folder / LOG}", "traceback": _tail(folder)})


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tail(folder: Path) -> str:
    return (folder / LOG).read_text(errors="replace")[-4000:]
