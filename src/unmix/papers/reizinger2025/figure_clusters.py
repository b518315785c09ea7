"""Clusters against dimension: the paper finds that more clusters offset more dimensions."""

from __future__ import annotations

from unmix.laws import VonMisesFisher
from unmix.papers.reizinger2025 import setting
from unmix.papers.reizinger2025.ablation import INSTANCES, Place, exhibit

COUNTS, DIMENSIONS = (10, 30, 100, 1000), (3, 5, 10, 15)

EXHIBIT = exhibit(
    "figure_clusters",
    "Clusters against dimension: R² [%] of the latents",
    ("|C|", "d"),
    (Place(f"{c:,}", str(d), setting.world(d, c, VonMisesFisher(10.0), INSTANCES)) for c in COUNTS for d in DIMENSIONS),
    "The paper: more clusters offset more dimensions; 10 clusters cannot do for 10 dimensions or more, because an "
    "affine generator system of R^d takes d + 1 vectors. These cells have no tick.",
)
