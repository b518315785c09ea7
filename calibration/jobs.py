"""The work in pieces: some repetitions of one design, kept in a file as soon as they are done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from calibration import coverage, rates
from calibration.coverage import RELATED, Related
from calibration.designs import DESIGNS, REFUSED, WARNED, Design
from unmix.files import read_json, write_json

ROOT = Path(__file__).parent.parent
MADE_BY = ("calibration", "src/unmix/measures", "src/unmix/moments", "src/unmix/indeterminacy")
APART = {"__main__.py", "cells.py", "jobs.py", "page.py", "widths.py"}
PIECE, PROCESSES, FEWER = 20, 2, 4


@dataclass(frozen=True)
class Job:
    """`PIECE` repetitions of one design, of p-values or, of tables that are related, of intervals."""

    design: Design | Related
    first: int

    def run(self) -> list[dict[str, Any]]:
        repetitions = range(self.first, self.first + PIECE)
        if isinstance(self.design, Design):
            return [rates.once(self.design, repetition) for repetition in repetitions]
        return [coverage.once(self.design, repetition) for repetition in repetitions]

    @property
    def file(self) -> str:
        """Another one for any other design, and after any change of what makes the numbers."""
        return f"{sha256(f'{self.design} {sources()}'.encode()).hexdigest()[:16]}-{self.first}.json"


@cache
def sources() -> str:
    """A mark of the code that makes the numbers."""
    files = (file for folder in MADE_BY for file in sorted((ROOT / folder).glob("*.py")) if file.name not in APART)
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def jobs(repetitions: int) -> list[Job]:
    """All the work, the first repetitions of every design first.

    Where no p may be given, or a wrong one is expected, a fourth of the repetitions shows it.
    """
    designs: tuple[Design | Related, ...] = (*DESIGNS, *RELATED)
    firsts = range(0, repetitions, PIECE)
    return [Job(design, first) for first in firsts for design in designs if first < _needed(design, repetitions)]


def _needed(design: Design | Related, repetitions: int) -> int:
    few = isinstance(design, Design) and design.expects in (REFUSED, WARNED)
    return -(-repetitions // FEWER) if few else repetitions


def done(todo: list[Job], folder: Path) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Each job with what it found and how long it took: those that are kept first, then the others as they are done."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = [job for job in todo if (folder / job.file).exists()]
    yield from ((job, read_json(folder / job.file)) for job in kept)
    left = [job for job in todo if job not in kept]
    if not left:
        return
    with get_context("spawn").Pool(PROCESSES) as pool:
        for job, found in pool.imap_unordered(_timed, left):
            write_json(folder / job.file, found)
            yield job, found


def _timed(job: Job) -> tuple[Job, dict[str, Any]]:
    start = time.perf_counter()
    found = job.run()
    return job, {"seconds": time.perf_counter() - start, "found": found}
