"""Batch against κ: the paper finds that larger batches offset a high concentration."""

from __future__ import annotations

from unmix.laws import VonMisesFisher
from unmix.papers.exhibit import Row
from unmix.papers.reizinger2025 import setting
from unmix.papers.reizinger2025.ablation import CLUSTERS, DIMENSION, INSTANCES, exhibit

BATCHES, CONCENTRATIONS = (128, 512, 1024, 2048), (5.0, 10.0, 20.0, 50.0)


def _batch(row: Row) -> int:
    return int(row.labels[0])


EXHIBIT = exhibit(
    "figure_batch",
    "Batch against concentration: R² [%] of the latents",
    ("batch", "κ"),
    (
        (str(b), f"{kappa:g}", setting.world(DIMENSION, CLUSTERS, VonMisesFisher(kappa), INSTANCES))
        for b in BATCHES
        for kappa in CONCENTRATIONS
    ),
    "The paper: a larger batch offsets a high κ.",
    _batch,
)
