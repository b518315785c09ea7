"""Measure every rate, print what is outside its band, and write the results and the page."""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from calibration import coverage, rates, widths
from calibration.coverage import Related
from calibration.designs import Design
from calibration.jobs import PIECE, ROOT, Job, done, jobs
from calibration.page import PAGE, RESULTS, outside, with_results
from calibration.streams import SEED
from unmix.files import write_atomically, write_json
from unmix.meter import meter
from unmix.training.folder import versions

FOLDER = ROOT / "runs" / "calibration"
SMALL, LARGE = 40, 1000
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m calibration", description=__doc__)
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} repetitions a design instead of {SMALL}")
    parser.add_argument("--repetitions", type=int, help=f"so many, in pieces of {PIECE}")
    asked = parser.parse_args()
    os.environ |= ONE_THREAD  # of the processes that are started
    repetitions = asked.repetitions or (LARGE if asked.large else SMALL)
    if repetitions < PIECE or repetitions % PIECE:
        parser.error(f"repetitions must be a multiple of {PIECE}, not {repetitions}")
    console = Console()
    todo, found = jobs(repetitions), []
    with meter(len(todo), shown=console.is_terminal) as (bar, task):
        for job, result in done(todo, FOLDER):
            found.append((job, result))
            bar.update(task, advance=1, description=job.design.name)
    write_json(RESULTS, measured := results(found, repetitions))
    write_atomically(PAGE, with_results(PAGE.read_text()).encode())
    console.print("\n".join(outside(measured)), soft_wrap=True)
    console.print(f"written to {RESULTS.relative_to(Path.cwd())} and {PAGE.relative_to(Path.cwd())}")


def results(found: list[tuple[Job, dict[str, Any]]], repetitions: int) -> dict[str, Any]:
    """What is kept for the page."""
    of: dict[Design | Related, list[dict[str, Any]]] = defaultdict(list)
    for job, result in sorted(found, key=lambda pair: pair[0].first):
        of[job.design] += result["found"]
    designs = list(dict.fromkeys(job.design for job in jobs(repetitions)))
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions() | {"threads": "1"},
        "seed": SEED,
        "repetitions": repetitions,
        "seconds": round(sum(result["seconds"] for _, result in found)),
        "rates": [asdict(row) for d in designs if isinstance(d, Design) for row in rates.tallied(d, of[d])],
        "coverage": [asdict(row) for d in designs if isinstance(d, Related) for row in coverage.tallied(d, of[d])],
        "widths": [asdict(row) for d in designs if isinstance(d, Related) for row in widths.tallied(d, of[d])],
    }


if __name__ == "__main__":
    main()
