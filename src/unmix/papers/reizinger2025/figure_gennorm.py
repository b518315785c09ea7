"""Shape against scale of a generalised normal conditional: the paper finds recovery worse as the scale rises."""

from __future__ import annotations

from unmix.laws import GeneralisedNormal
from unmix.papers.reizinger2025 import setting
from unmix.papers.reizinger2025.ablation import CLUSTERS, DIMENSION, INSTANCES, Place, exhibit

SHAPES, SCALES = (0.5, 1.0, 2.0, 4.0), (0.25, 0.5, 1.0, 2.0)

EXHIBIT = exhibit(
    "figure_gennorm",
    "Generalised normal conditional, shape against scale: R² [%] of the latents",
    ("shape", "scale"),
    (
        Place(f"{p:g}", f"{s:g}", setting.world(DIMENSION, CLUSTERS, GeneralisedNormal(p, s), INSTANCES))
        for p in SHAPES
        for s in SCALES
    ),
    "The paper: recovery is worse as the scale rises. No cell has a tick: theory asks for von Mises-Fisher.",
)
