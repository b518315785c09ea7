"""A softmax over a million labels: DIET's cross-entropy against the best naive one, and a whole step's memory."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

import unmix as um
from benchmarks.measure import Row, in_subprocess, interleaved, peak_extra_bytes
from unmix import Dot, objectives
from unmix.objectives import info_nce

LABELS, BATCH, DIMENSION, NAIVE_LABELS, SQUARE = 1_000_000, 1024, 10, 20_000, 4096


def step(loss: Callable[[Tensor, Tensor, Tensor], Tensor], labels: int) -> Callable[[], None]:
    """Forward and backward of a loss of outputs, rows of the head and labels."""
    g = torch.Generator().manual_seed(0)
    f, w = (torch.randn(n, DIMENSION, generator=g).requires_grad_() for n in (BATCH, labels))
    y = torch.randint(labels, (BATCH,), generator=g)
    return lambda: loss(f, w, y).backward()


def naive(f: Tensor, w: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(f @ w.mT, y)


def contrastive() -> Callable[[], None]:
    g = torch.Generator().manual_seed(0)
    a = torch.randn(SQUARE, DIMENSION, generator=g).requires_grad_()
    b = a.detach() + 0.3 * torch.randn(SQUARE, DIMENSION, generator=g)
    return lambda: info_nce(Dot(), a, b).backward()


def peak(unit_rows: bool) -> int:
    """Extra memory of a step of DIET beyond the weights, their gradient and Adam's state."""
    g = torch.Generator().manual_seed(0)
    process = um.ClusterProcess(
        um.Sphere(DIMENSION), um.Clusters(100), um.VonMisesFisher(10.0), um.mixings.Linear(pool=10), instances=LABELS
    )
    model = um.Model(um.encoders.MLP(), um.DIET(unit_rows=unit_rows))
    network = model.build(process, process.sample(1000, g).x, g)
    optimiser = torch.optim.Adam(network.parameters(), fused=True)
    for p in network.parameters():
        p.grad = torch.zeros_like(p)
    optimiser.step()
    rows = process.sample(BATCH, g)
    objectives.cross_entropy(rows.x, network.loss.weight[:50_000].detach(), rows.instance % 50_000)

    def update() -> None:
        optimiser.zero_grad(set_to_none=False)
        network.training_loss(rows).backward()
        optimiser.step()

    return peak_extra_bytes(update, repeats=1)


def rows(threads: int) -> list[Row]:
    ours, matmul = step(objectives.cross_entropy, LABELS), step(naive, NAIVE_LABELS)
    t = interleaved(3, ours=ours, naive=matmul, info_nce=contrastive())
    each = {
        "ours": t["ours"] / (LABELS * BATCH),
        "naive": t["naive"] / (NAIVE_LABELS * BATCH),
        "info_nce": t["info_nce"] / SQUARE**2,
    }
    nanoseconds = {name: f"{1e9 * seconds:.1f} ns an entry" for name, seconds in each.items()}
    name = f"DIET, {LABELS:,} labels, B = {BATCH}, d = {DIMENSION}"
    faster, slower = each["naive"] / each["ours"], each["ours"] / each["info_nce"]
    found = [
        Row(f"{name}: time", f"{t['ours']:.1f} s ({nanoseconds['ours']})",
            f"{nanoseconds['naive']} (matmul, {NAIVE_LABELS:,} labels)", faster, "–", None),
        Row("the same, next to InfoNCE's kernel", nanoseconds["ours"],
            f"{nanoseconds['info_nce']} (dot product, B = {SQUARE})", slower, "–", None),
    ]  # fmt: skip
    for unit in (False, True):
        extra = in_subprocess(f"labels.peak({unit})", threads)
        which = "unit" if unit else "free"
        found.append(
            Row(f"the same, {which} rows: memory of a step beyond W, its gradient and Adam's state",
                f"{extra / 1e6:.0f} MB", "250 MB", extra / 250e6, "≤ 1", extra <= 250e6)
        )  # fmt: skip
    return found
