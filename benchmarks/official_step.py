"""One training step at the official setting of Zimmermann et al. 2021: where its time goes."""

from __future__ import annotations

from itertools import pairwise

import torch

import unmix as um
from benchmarks.measure import Row, interleaved
from unmix.objectives import info_nce

BATCH, DIMENSION = 6144, 10


def rows() -> list[Row]:
    g = torch.Generator().manual_seed(0)
    process = um.PairProcess(um.Box(DIMENSION), um.Uniform(), um.Laplace(0.05), um.mixings.MLP(3))
    encoder = um.encoders.MLP.paper(DIMENSION)
    model = um.Model(encoder, um.InfoNCE(um.Lp(1)), um.outputs.Box(), whiten=False)
    network = model.build(process, process.sample(100, g).x, g)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    a, b = (torch.rand(BATCH, DIMENSION, generator=g).requires_grad_() for _ in range(2))
    widths = (DIMENSION, *encoder.widths, DIMENSION)
    features = [torch.randn(2 * BATCH, w, generator=g) for w in widths]
    weights = [torch.randn(out, into, generator=g) for into, out in pairwise(widths)]

    def step() -> None:
        loss = network.training_loss(process.sample(BATCH, g))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def products() -> None:
        for i, w in enumerate(weights):
            features[i] @ w.T
        for i, w in reversed(list(enumerate(weights))):
            features[i + 1].T @ features[i]
            if i > 0:  # nobody needs the gradient for the observations
                features[i + 1] @ w

    t = interleaved(5, step=step, loss=lambda: info_nce(um.Lp(1), a, b).backward(), products=products)
    share, rest = t["loss"] / t["step"], (t["step"] - t["loss"]) / t["products"]
    name = f"official step, B = {BATCH}, 854,210 weights, p = 1"
    return [
        Row(f"{name}: the loss", f"{1e3 * t['loss']:.0f} ms", f"{1e3 * t['step']:.0f} ms (the step)",
            share, "< 1/3 of the step", share < 1 / 3),
        Row(f"{name}: the rest", f"{1e3 * (t['step'] - t['loss']):.0f} ms",
            f"{1e3 * t['products']:.0f} ms (its matrix products alone)", rest, "≤ 1.5×", rest <= 1.5),
    ]  # fmt: skip
