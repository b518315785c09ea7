"""How things are timed and weighed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Row:
    """One line of the benchmark table; `ratio` is what the goal speaks of."""

    name: str
    ours: str
    baseline: str
    ratio: float
    goal: str
    reached: bool | None


def interleaved(repeats: int, **jobs: Callable[[], object]) -> dict[str, float]:
    """Median seconds of each job, taking turns so that other load on the machine hits all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()  # compile and warm up
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: median(t) for name, t in times.items()}


def anonymous_bytes() -> int:
    """Resident anonymous memory of this process (Linux)."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))


def peak_extra_bytes(job: Callable[[], object], repeats: int = 5) -> int:
    """The highest anonymous memory while the job runs a few times, above what there was before."""
    before, peak, done = anonymous_bytes(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, anonymous_bytes())
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(repeats):
        job()
    done.set()
    watcher.join()
    return max(peak - before, 0)


def in_subprocess(expression: str, threads: int) -> int:
    """The integer that an expression over this package prints, in a process of its own."""
    needed = f"import torch; torch.set_num_threads({threads})\nfrom benchmarks import kernels, labels, measure"
    code = f"{needed}\nprint({expression})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)
