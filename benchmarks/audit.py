"""An audit of a million rows in a file: time against the matrix product it needs, and memory; a whole report."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unmix as um
from benchmarks.measure import Row, peak_extra_bytes

ROWS, WIDTH, STEP = 1_000_000, 512, 50_000
PERMUTATIONS = 99, 199


def world(rows: int, width: int, path: Path) -> dict[str, Any]:
    """An embedding in a file, and ten factors of which it holds some: seven numbers, an angle, two of classes."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, 7))
    angle = rng.uniform(0, 360, rows)
    classes = {"shape": rng.integers(0, 3, rows), "colour": rng.integers(0, 8, rows)}
    circle = np.stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))], 1)
    code = np.hstack([numbers[:, :5], circle, np.eye(3)[classes["shape"]]])
    mixing = rng.normal(size=(code.shape[1], width))
    out = np.lib.format.open_memmap(path, "w+", np.float32, (rows, width))
    for a in range(0, rows, STEP):
        part = code[a : a + STEP]
        out[a : a + STEP] = part @ mixing + rng.normal(size=(len(part), width))
    out.flush()
    words = {name: np.array([f"{name} {i}" for i in range(8)], object)[codes] for name, codes in classes.items()}
    return {**{f"number {i}": numbers[:, i] for i in range(7)}, "angle": angle, **words}


def measured(folder: str, threads: int) -> dict[str, float]:
    """Seconds of the product and of two audits, and the peak of anonymous memory; in a process of its own."""
    path = Path(folder) / "embedding.npy"
    factors = world(ROWS, WIDTH, path)
    table = np.load(path, mmap_mode="r")

    def product() -> None:
        total = np.zeros((WIDTH, WIDTH))
        for a in range(0, ROWS, STEP):
            block = table[a : a + STEP].astype(np.float64)
            total += block.T @ block

    found: dict[str, float] = {}
    with threadpool_limits(threads):
        um.audit(np.asarray(table[:2000]), {k: v[:2000] for k, v in factors.items()}, probe=False)  # compile, warm up
        for name, job in {
            "product": product,
            **{f"audit {p}": lambda p=p: um.audit(path, factors, probe=False, permutations=p) for p in PERMUTATIONS},
        }.items():
            start = time.perf_counter()
            job()
            found[name] = time.perf_counter() - start
        found["memory"] = peak_extra_bytes(lambda: um.audit(path, factors, probe=False, permutations=99), repeats=1)
    return found


def rows(threads: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        code = f"import json; from benchmarks import audit; print(json.dumps(audit.measured({folder!r}, {threads})))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        t = json.loads(done.stdout.splitlines()[-1])
        few, many = PERMUTATIONS
        nulls = (t[f"audit {many}"] - t[f"audit {few}"]) * many / (many - few)
        scores = t[f"audit {many}"] - nulls
        name, baseline = f"audit of {ROWS:,} × {WIDTH} float32 in a file, 10 factors", f"{t['product']:.1f} s, X.T @ X"
        parts = [("scores and intervals", scores, 2.0), ("nulls", nulls, 4.0)]
        found = []
        for what, seconds, most in parts:
            ratio = seconds / t["product"]
            found.append(Row(f"{name}: {what}", f"{seconds:.1f} s", baseline, ratio, f"≤ {most:g}", ratio <= most))
        memory = t["memory"]
        found.append(Row(f"{name}: memory", f"{memory / 1e9:.2f} GB", "2 GB", memory / 2e9, "≤ 1", memory <= 2e9))
        start = time.perf_counter()
        factors = world(10_000, 64, Path(folder) / "small.npy")
        report = um.audit(Path(folder) / "small.npy", factors)
        report.save(Path(folder) / "report.html")
        spent = time.perf_counter() - start
        small = "audit of 10,000 × 64, 10 factors, with the probe and the page"
        found.append(Row(small, f"{spent:.1f} s", "10 s", spent / 10, "≤ 1", spent <= 10))
    return found
