"""What a factor costs an audit, and whether that and the memory grow with their number."""

from __future__ import annotations

import time

import numpy as np

import unmix as um
from benchmarks.measure import Row, anonymous_bytes

ROWS, WIDTH, COUNTS = 2_000, 16, (100, 300, 1_000)


def seconds(count: int) -> float:
    """Of an audit of so many factors, one in ten of classes, without the probe."""
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(ROWS, WIDTH))
    numbers = outputs @ rng.normal(size=(WIDTH, count)) + rng.normal(size=(ROWS, count)) * rng.uniform(0, 10, count)
    factors = {f"factor {i}": column if i % 10 else column > 0 for i, column in enumerate(numbers.T)}
    start = time.perf_counter()
    um.audit(outputs, factors, probe=False)
    return time.perf_counter() - start


def rows() -> list[Row]:
    seconds(2)  # compile
    before, spent = anonymous_bytes(), {}
    for count in COUNTS:
        spent[count] = seconds(count) / count
    kept = anonymous_bytes() - before
    base = spent[COUNTS[0]]
    name, baseline = f"audit of {ROWS:,} × {WIDTH}, no probe", f"{1e3 * base:.0f} ms ({COUNTS[0]} factors)"
    found = []
    for count in COUNTS[1:]:
        ratio = spent[count] / base
        ours = f"{1e3 * spent[count]:.0f} ms"
        found.append(Row(f"{name}: a factor of {count:,}", ours, baseline, ratio, "≤ 1.5 (linear)", ratio <= 1.5))
    found.append(
        Row("the same: anonymous memory after it", f"{kept / 1e9:.2f} GB", "1 GB", kept / 1e9, "< 1", kept < 1e9)
    )
    return found
