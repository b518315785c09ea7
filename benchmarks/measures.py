"""Measures: folds and resamples from moments, CCA, the rate of the pass, and memory with rows in a file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from benchmarks.measure import Row, interleaved
from unmix.measures import CCA, R2
from unmix.measures.paired import pair
from unmix.measures.resample import resample
from unmix.moments import ChunkMoments, Folds

FOLDS, BOOTSTRAPS, REFITS = 5, 200, 2
PASSES = ((np.float64, 512, True), (np.float64, 256, True), (np.float64, 128, True), (np.float32, 256, False))
ROWS_IN_FILE = (500_000, 1_000_000, 2_000_000, 5_000_000)


def rows(threads: int) -> list[Row]:
    with threadpool_limits(threads):
        return [*_pass(), _resamples(), *_cca(), *_file(threads)]


def _pass() -> list[Row]:
    """The pass over rows against X.T @ X of the same rows in memory."""
    found = []
    for kind, width, goal in PASSES:
        n = 150_000_000 // width
        x = np.random.default_rng(0).normal(size=(n, width)).astype(kind)
        one = x[:, :1].copy()
        t = interleaved(5, ours=lambda x=x, one=one: ChunkMoments.of(x, one), plain=lambda x=x: x.T @ x)
        ratio = t["plain"] / t["ours"]
        name = f"pass over {n:,} × {width} rows, {np.dtype(kind).name}, in 64 chunks"
        told, reached = ("≥ 0.7", ratio >= 0.7) if goal else ("–", None)
        found.append(Row(name, f"{t['ours']:.2f} s", f"{t['plain']:.2f} s, X.T @ X", ratio, told, reached))
    return found


def _resamples() -> Row:
    """5-fold affine R² with 200 resamples against refitting scikit-learn for each."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200_000, 256)), rng.normal(size=(200_000, 20))
    y += x[:, :20]
    start = time.perf_counter()
    resample(pair(x, y, folds=FOLDS), [R2()], BOOTSTRAPS)
    ours = time.perf_counter() - start
    train = rng.permutation(200_000)[:160_000]
    start = time.perf_counter()
    for _ in range(REFITS):
        rng.shuffle(train)
        LinearRegression().fit(x[train], y[train]).predict(x[:40_000])
    refit = (time.perf_counter() - start) / REFITS
    total = refit * FOLDS * (1 + BOOTSTRAPS)
    baseline = f"{total:.0f} s, scikit-learn ({refit:.2f} s a refit, extrapolated from {REFITS})"
    name = "5-fold affine R² with 200 resamples, 200,000 × 256, 20 factors"
    return Row(name, f"{ours:.2f} s", baseline, total / ours, "≥ 300", total / ours >= 300)


def _cca() -> list[Row]:
    """Full CCA with a held-out score against QR."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50_000, 768))
    y = x @ rng.normal(size=(768, 768)) / 28 + rng.normal(size=(50_000, 768))
    train, test = np.arange(50_000) % 5 > 0, np.arange(50_000) % 5 == 0

    def by_moments() -> Float64[ndarray, " p"]:
        chunk = np.where(train, 1, 0)
        split = Folds(ChunkMoments.of(x, y, chunks=chunk, count=2), 2).splits(only=1)[0]
        return CCA().profile(*split)

    def by_qr() -> Float64[ndarray, " p"]:
        (a, b), (c, d) = (x[train], y[train]), (x[test], y[test])
        mean_a, mean_b = a.mean(0), b.mean(0)
        qa, ra = np.linalg.qr(a - mean_a)
        qb, rb = np.linalg.qr(b - mean_b)
        u, _, vt = np.linalg.svd(qa.T @ qb)
        left, right = (c - mean_a) @ np.linalg.solve(ra, u), (d - mean_b) @ np.linalg.solve(rb, vt.T)
        left, right = left - left.mean(0), right - right.mean(0)
        return (left * right).sum(0) / np.linalg.norm(left, axis=0) / np.linalg.norm(right, axis=0)

    apart = float(np.abs(by_moments() - by_qr()).max())
    t = interleaved(1, ours=by_moments, qr=by_qr)
    ratio = t["qr"] / t["ours"]
    name = "CCA, 768 with 768 columns, 50,000 rows, held out"
    return [
        Row(name, f"{t['ours']:.1f} s", f"{t['qr']:.1f} s, QR in numpy", ratio, "≥ 3", ratio >= 3),
        Row(
            "the same: largest difference of the 768 correlations",
            f"{apart:.1g}",
            "QR in numpy",
            apart,
            "≤ 1e-8",
            apart <= 1e-8,
        ),
    ]


SCRIPT = """
import sys, time, threading, numpy as np
from threadpoolctl import threadpool_limits
from benchmarks.measure import anonymous_bytes
from unmix.measures.paired import pair
file, n, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
x = np.load(file, mmap_mode="r")[:n]
peak, done = 0, threading.Event()
def watch():
    global peak
    while not done.is_set():
        peak = max(peak, anonymous_bytes())
        time.sleep(0.005)
threading.Thread(target=watch).start()
with threadpool_limits(threads):
    pair(x[:1000], x[:1000, :8])
    start = time.perf_counter()
    pair(x, x[:, :8])
    print(time.perf_counter() - start)
done.set()
print(peak)
"""


def _file(threads: int) -> list[Row]:
    """Rows from a memory-mapped file: time against rows, and anonymous memory."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        most = max(ROWS_IN_FILE)
        table = np.lib.format.open_memmap(file, "w+", np.float32, (most, 128))
        rng = np.random.default_rng(0)
        for a in range(0, most, 100_000):
            table[a : a + 100_000] = rng.standard_normal((100_000, 128), np.float32)
        table.flush()
        del table
        first = None
        for n in ROWS_IN_FILE:
            command = [sys.executable, "-c", SCRIPT, str(file), str(n), str(threads)]
            seconds, peak = map(
                float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            )
            first = first or seconds / n
            growth = seconds / n / first
            name = f"a memory-mapped file of {n:,} × 128 rows: time, and its ratio a row"
            found.append(Row(name, f"{seconds:.1f} s", "0.5 million rows", growth, "≤ 1.5 (linear)", growth <= 1.5))
        used = peak / 2**30
        found.append(Row("the same: anonymous memory", f"{used:.2f} GB", "1 GB", used, "< 1", used < 1))
    return found
