"""InfoNCE forward and backward against cross-entropy on the best naive similarity matrix."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from benchmarks.measure import Row, in_subprocess, interleaved, peak_extra_bytes
from unmix import Dot, Lp
from unmix.objectives import info_nce
from unmix.similarities import Similarity

BATCH, DIMENSION = 4096, 10

NAIVE: dict[Similarity, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    Dot(): ("matmul", lambda a, b: a @ b.T),
    Lp(2): ("‖a‖²+‖b‖²−2ab", lambda a, b: 2 * a @ b.T - (a * a).sum(1)[:, None] - (b * b).sum(1)),
    Lp(1): ("cdist", lambda a, b: -torch.cdist(a, b, p=1)),
    Lp(3): ("broadcasting", lambda a, b: -(a[:, None] - b).abs().pow(3).sum(-1)),
    Lp(2.5): ("broadcasting", lambda a, b: -(a[:, None] - b).abs().pow(2.5).sum(-1)),
}
GOALS = {Dot(): 1.5, Lp(2): 2.0, Lp(1): 5.0, Lp(3): 20.0}


def batch(rows: int) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(0)
    a = torch.randn(rows, DIMENSION, generator=g)
    return a, a + 0.3 * torch.randn(rows, DIMENSION, generator=g)


def ours(similarity: Similarity, rows: int = BATCH) -> Callable[[], None]:
    a, b = (t.requires_grad_() for t in batch(rows))
    return lambda: info_nce(similarity, a, b).backward()


def naive(similarity: Similarity, rows: int = BATCH) -> Callable[[], None]:
    a, b = (t.requires_grad_() for t in batch(rows))
    matrix, labels = NAIVE[similarity][1], torch.arange(rows)
    return lambda: cross_entropy(matrix(a, b), labels).backward()


def peak(method: Callable[..., Callable[[], None]], similarity: Similarity) -> int:
    """Extra memory of one method at full size, after a small run has loaded what it needs."""
    method(similarity, 64)()
    return peak_extra_bytes(method(similarity))


def rows(threads: int) -> list[Row]:
    found = []
    for similarity, (label, _) in NAIVE.items():
        goal = GOALS.get(similarity)
        t = interleaved(3 if label == "broadcasting" else 7, ours=ours(similarity), naive=naive(similarity))
        ratio = t["naive"] / t["ours"]
        name = f"InfoNCE {similarity}, B = {BATCH}, d = {DIMENSION}"
        nanoseconds = t["ours"] / BATCH**2 * 1e9
        found.append(
            Row(f"{name}: time", f"{1e3 * t['ours']:.0f} ms ({nanoseconds:.1f} ns an entry)",
                f"{1e3 * t['naive']:.0f} ms ({label})", ratio,
                f"≥ {goal:g}× faster" if goal else "–", ratio >= goal if goal else None)
        )  # fmt: skip
        m = {
            method: in_subprocess(f"kernels.peak(kernels.{method}, kernels.{similarity!r})", threads)
            for method in ("ours", "naive")
        }
        share = m["ours"] / m["naive"]
        found.append(
            Row(f"{name}: memory", f"{m['ours'] / 2**20:.1f} MiB", f"{m['naive'] / 2**20:.0f} MiB ({label})",
                share, "≤ 0.05 of naive", share <= 0.05)
        )  # fmt: skip
    return found
