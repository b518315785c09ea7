"""The least memory that a run takes, known before anything is drawn."""

from __future__ import annotations

from itertools import pairwise

from unmix import mixings
from unmix.encoders import MLP
from unmix.memory import require_room
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy
from unmix.processes import ClusterProcess, Process
from unmix.training.recipe import Recipe

SINGLE, DOUBLE = 4, 8  # bytes of a number
REMEDY = "take a smaller dimension, narrower layers, fewer labels or fewer rows"


def require_room_for(process: Process, model: Model, recipe: Recipe) -> None:
    """Refuse a run that this machine cannot hold, such as one whose dimension is a million.

    Counted are latents and observations of the largest draw, and weights; what a class of somebody's own takes is not.
    """
    d, outputs = process.dimension, model.outputs(process)
    needed = 2 * SINGLE * d * max(recipe.whitening_rows, recipe.batch)
    if isinstance(process.mixing, (mixings.MLP, mixings.Smooth)):
        needed += DOUBLE * d * d * process.mixing.layers
    if model.whiten:
        needed += SINGLE * d * d
    if isinstance(model.encoder, MLP):
        widths = (d, *model.encoder.widths, outputs)
        needed += SINGLE * sum(a * b for a, b in pairwise(widths))
        needed += SINGLE * d * outputs * model.encoder.skip
    if isinstance(model.objective, CrossEntropy) and isinstance(process, ClusterProcess):
        labels = process.labels if isinstance(model.objective, DIET) else process.classes
        needed += SINGLE * labels * outputs
    require_room(needed, "this run", REMEDY)
