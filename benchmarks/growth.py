"""How the cost of a fit grows with batch, dimension and steps."""

from __future__ import annotations

from dataclasses import replace

import unmix as um
from benchmarks.measure import Row

BASE = um.Recipe(steps=200, batch=1024, rate=1e-2, whitening_rows=5000)
SETTINGS = [
    *(("batch", b, replace(BASE, batch=b), 10) for b in (256, 1024, 4096)),
    *(("dimension", d, BASE, d) for d in (5, 20, 40)),
    *(("steps", s, replace(BASE, steps=s), 10) for s in (400, 800)),
]


def seconds(recipe: um.Recipe, dimension: int) -> float:
    process = um.PairProcess(um.Sphere(dimension), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(3, pool=100))
    model = um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
    return um.fit(process, model, recipe, progress=False).seconds


def rows() -> list[Row]:
    seconds(replace(BASE, steps=5), 10)  # compile
    base = seconds(BASE, 10)
    base_name = f"{base:.2f} s (batch 1024, d = 10, 200 steps)"
    found = []
    for what, value, recipe, dimension in SETTINGS:
        spent = seconds(recipe, dimension)
        name = f"fit on the sphere: {what} {value}"
        found.append(Row(name, f"{spent:.2f} s", base_name, spent / base, "–", None))
    return found
