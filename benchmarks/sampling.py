"""von Mises-Fisher sampling against normalised normal numbers."""

from __future__ import annotations

import torch

import unmix as um
from benchmarks.measure import Row, interleaved

ROWS, DIMENSION = 1_000_000, 10


def rows() -> list[Row]:
    g = torch.Generator().manual_seed(0)
    sphere, law = um.Sphere(DIMENSION), um.VonMisesFisher(10.0)
    centre = sphere.uniform(ROWS, g)

    def normalised_normal() -> None:
        z = torch.randn(ROWS, DIMENSION, generator=g)
        z /= z.norm(dim=1, keepdim=True)

    t = interleaved(7, ours=lambda: law.sample(sphere, centre, g), normal=normalised_normal)
    ratio = t["ours"] / t["normal"]
    return [
        Row("vMF(10), a million rows with a mean each, d = 10", f"{1e3 * t['ours']:.0f} ms",
            f"{1e3 * t['normal']:.0f} ms (normalised randn)", ratio, "≤ 6×", ratio <= 6)
    ]  # fmt: skip
