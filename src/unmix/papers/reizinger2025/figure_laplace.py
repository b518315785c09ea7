"""Support against scale of a truncated Laplace conditional: the paper finds recovery worse as the support widens."""

from __future__ import annotations

from unmix.laws import Laplace, Truncated
from unmix.papers.reizinger2025 import setting
from unmix.papers.reizinger2025.ablation import CLUSTERS, DIMENSION, INSTANCES, Place, exhibit

SUPPORTS, SCALES = (0.25, 0.5, 1.0, 4.0), (0.25, 0.5, 1.0, 2.0)

EXHIBIT = exhibit(
    "figure_laplace",
    "Truncated Laplace conditional, support against scale: R² [%] of the latents",
    ("support", "scale"),
    (
        Place(f"±{support:g}", f"{s:g}", setting.world(DIMENSION, CLUSTERS, Truncated(Laplace(s), support), INSTANCES))
        for support in SUPPORTS
        for s in SCALES
    ),
    "The paper: recovery is worse as the support widens. No cell has a tick: theory asks for von Mises-Fisher.",
)
