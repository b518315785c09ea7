"""Every verb that writes, on something small: `python -m fuzz.verbs VERB FOLDER`, so that it can be killed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

import unmix as um
from unmix.indeterminacy import AFFINE
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.jobs import Trained
from unmix.papers.reproduction import Reproduction
from unmix.processes import Process
from unmix.report.drawing import png

PROCESS = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=50))
MODEL = um.Model(um.encoders.MLP((16,)), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
RECIPE = um.Recipe(steps=1200, batch=128, rate=1e-2, whitening_rows=1000, log_every=20)
ROWS = 3000


def fit(folder: Path) -> None:
    um.fit(PROCESS, MODEL, RECIPE, folder=folder, progress=False)


def activations(folder: Path) -> None:
    net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64)).requires_grad_(False)
    for weight in net.parameters():
        weight.copy_(torch.linspace(-1, 1, weight.numel()).reshape(weight.shape))
    inputs = np.random.default_rng(0).normal(size=(40_000, 64)).astype(np.float32)
    um.activations.record(net, inputs, layers=["0", "2"], folder=folder, batch=64, progress=False)


def compare(folder: Path) -> None:
    tables = _tables()
    um.compare(*tables, measures=[um.measures.R2(), um.measures.CKA()], folder=folder).save(folder / "comparison.json")


def audit(folder: Path) -> None:
    x, y, *_ = _tables()
    folder.mkdir(parents=True, exist_ok=True)
    um.audit(x, {"first": y[:, 0], "second": y[:, 1]}, probe=False).save(folder / "audit.json")


def reproduce(folder: Path) -> None:
    um.reproduce(exhibit(), seeds=1, recipe=effort, workers=1, folder=folder, progress=False)


VERBS: dict[str, Callable[[Path], None]] = {
    verb.__name__: verb for verb in (fit, activations, compare, audit, reproduce)
}


def exhibit() -> Exhibit:
    """A table of two rows of one run each."""
    scored = Column("score", "r2", lambda row, effort, seed: Trained(PROCESS, *effort(PROCESS, MODEL), row.number, 400))
    rows = tuple(Row(n, (str(n),), PROCESS, MODEL) for n in (1, 2))
    return Exhibit("own/table", "A table of one's own", "nobody", ("setting",), (scored,), rows, AFFINE, blank)


def effort(process: Process, model: um.Model) -> tuple[um.Model, um.Recipe]:
    return model, um.Recipe(steps=300, batch=128, rate=1e-2, whitening_rows=1000, log_every=20)


def blank(found: Reproduction) -> tuple[bytes, str]:
    return png(Figure(figsize=(1, 1))), "Nothing to see."


def _tables() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 8))
    return [x, x @ rng.normal(size=(8, 8)), rng.normal(size=(ROWS, 8)), x**3]


if __name__ == "__main__":
    torch.set_num_threads(1)
    VERBS[sys.argv[1]](Path(sys.argv[2]))
