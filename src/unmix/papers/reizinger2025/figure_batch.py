"""Batch against κ: the paper finds that larger batches offset a high concentration."""

from __future__ import annotations

from unmix.laws import VonMisesFisher
from unmix.papers.reizinger2025 import setting
from unmix.papers.reizinger2025.ablation import CLUSTERS, DIMENSION, INSTANCES, Place, exhibit

BATCHES, CONCENTRATIONS = (128, 512, 1024, 2048), (5.0, 10.0, 20.0, 50.0)


EXHIBIT = exhibit(
    "figure_batch",
    "Batch against concentration: R² [%] of the latents",
    ("batch", "κ"),
    (
        Place(f"{b:,}", f"{kappa:g}", setting.world(DIMENSION, CLUSTERS, VonMisesFisher(kappa), INSTANCES), b)
        for b in BATCHES
        for kappa in CONCENTRATIONS
    ),
    "The paper: a larger batch offsets a high κ.",
)
