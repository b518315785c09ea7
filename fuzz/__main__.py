"""Damage files, kill verbs, write from many processes; print what should not be, and write the results and the page."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from fuzz.kills import killed
from fuzz.page import PAGE, RESULTS, with_results
from fuzz.trial import FINE, Outcome
from fuzz.worker import Worker
from fuzz.writers import crowded
from unmix.files import write_atomically, write_json
from unmix.meter import meter
from unmix.training.folder import versions

FOLDER = Path(__file__).parent.parent / "runs" / "fuzz"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=3000, help="damaged files at most")
    parser.add_argument("--seconds", type=float, default=600, help="for damaged files at most")
    parser.add_argument("--kills", type=int, default=8, help="kills of each verb")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    os.environ |= ONE_THREAD  # of the processes that are started
    console = Console()
    outcomes = files(asked.cases, asked.seconds, asked.seed, console.is_terminal)
    findings = [o for o in outcomes if o.outcome not in FINE]
    for o in findings:
        console.print(
            f"case {o.case} of seed {asked.seed}: {o.target}: {o.outcome}: {o.said}", soft_wrap=True, markup=False
        )
    kills = killed(FOLDER / "kills", asked.kills, asked.seed)
    crowds = crowded(FOLDER / "crowds")
    measured: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "seed": asked.seed,
        "files": [[target, dict(sorted(counts.items()))] for target, counts in by_target(outcomes).items()],
        "kills": kills,
        "crowds": crowds,
    }
    write_json(RESULTS, measured)
    write_atomically(PAGE, with_results(PAGE.read_text()).encode())
    wrong = len(findings) + sum(row["lost"] for row in kills) + sum(row["failed"] for row in crowds)
    console.print(f"{len(outcomes):,} damaged files, {wrong} findings; written to {RESULTS} and {PAGE}", soft_wrap=True)
    sys.exit(bool(wrong))


def files(cases: int, seconds: float, seed: int, shown: bool) -> list[Outcome]:
    """The outcome of each case, until the time is over."""
    worker, found, end = Worker(FOLDER, seed), list[Outcome](), time.monotonic() + seconds
    with meter(cases, shown=shown) as (bar, task):
        for case in range(cases):
            if time.monotonic() > end:
                break
            found.append(worker.run(case))
            bar.update(task, advance=1, description=found[-1].target)
    worker.close()
    return found


def by_target(outcomes: list[Outcome]) -> dict[str, Counter[str]]:
    """How often each outcome came of each target."""
    found: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.target, Counter())[outcome.outcome] += 1
    return found


if __name__ == "__main__":
    main()
