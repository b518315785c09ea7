"""A softmax over a million labels: DIET's cross-entropy against the best naive one, and a whole step's memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy

from benchmarks.measure import Row, in_subprocess, interleaved, peak_extra_bytes
from unmix import Dot, objectives
from unmix.objectives import info_nce

LABELS, BATCH, DIMENSION, NAIVE_LABELS, SQUARE = 1_000_000, 1024, 10, 20_000, 4096


def ours(labels: int = LABELS, batch: int = BATCH) -> Callable[[], None]:
    g = torch.Generator().manual_seed(0)
    f, w = (torch.randn(n, DIMENSION, generator=g).requires_grad_() for n in (batch, labels))
    y = torch.randint(labels, (batch,), generator=g)
    return lambda: objectives.cross_entropy(f, w, y).backward()


def naive(labels: int = LABELS, batch: int = BATCH) -> Callable[[], None]:
    g = torch.Generator().manual_seed(0)
    f, w = (torch.randn(n, DIMENSION, generator=g).requires_grad_() for n in (batch, labels))
    y = torch.randint(labels, (batch,), generator=g)
    return lambda: cross_entropy(f @ w.mT, y).backward()


def contrastive() -> Callable[[], None]:
    g = torch.Generator().manual_seed(0)
    a = torch.randn(SQUARE, DIMENSION, generator=g).requires_grad_()
    b = a.detach() + 0.3 * torch.randn(SQUARE, DIMENSION, generator=g)
    return lambda: info_nce(Dot(), a, b).backward()


def peak() -> int:
    """Extra memory of a step of Adam beyond the weights, their gradient and the optimiser's state."""
    g = torch.Generator().manual_seed(0)
    w = torch.randn(LABELS, DIMENSION, generator=g).requires_grad_()
    f, y = torch.randn(BATCH, DIMENSION, generator=g), torch.randint(LABELS, (BATCH,), generator=g)
    optimiser = torch.optim.Adam([w], fused=True)
    w.grad = torch.zeros_like(w)
    optimiser.step()
    objectives.cross_entropy(f, w[:50_000].detach(), y % 50_000)

    def step() -> None:
        w.grad.zero_()
        objectives.cross_entropy(f, w, y).backward()
        optimiser.step()

    return peak_extra_bytes(step, repeats=1)


def rows(threads: int) -> list[Row]:
    t = interleaved(3, ours=ours(), naive=naive(NAIVE_LABELS), info_nce=contrastive())
    each = {
        "ours": t["ours"] / (LABELS * BATCH),
        "naive": t["naive"] / (NAIVE_LABELS * BATCH),
        "info_nce": t["info_nce"] / SQUARE**2,
    }
    nanoseconds = {name: f"{1e9 * seconds:.1f} ns an entry" for name, seconds in each.items()}
    name = f"DIET, {LABELS:,} labels, B = {BATCH}, d = {DIMENSION}"
    faster, slower = each["naive"] / each["ours"], each["ours"] / each["info_nce"]
    extra = in_subprocess("labels.peak()", threads) / 2**20
    return [
        Row(f"{name}: time", f"{t['ours']:.1f} s ({nanoseconds['ours']})",
            f"{nanoseconds['naive']} (matmul, {NAIVE_LABELS:,} labels)", faster, "–", None),
        Row("the same, next to InfoNCE's kernel", nanoseconds["ours"],
            f"{nanoseconds['info_nce']} (dot product, B = {SQUARE})", slower, "–", None),
        Row("the same: memory of a step beyond W, its gradient and Adam's state", f"{extra:.0f} MiB", "250 MB",
            extra * 2**20 / 250e6, "≤ 1", extra * 2**20 <= 250e6),
    ]  # fmt: skip
