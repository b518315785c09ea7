"""What a file may name: the descriptions of the house, one by one. What is not here is not read back."""

from __future__ import annotations

from unmix import encoders, laws, mixings, objectives, processes, similarities, spaces
from unmix.encoders import outputs
from unmix.model import Model
from unmix.training import batches, optimisers, schedules
from unmix.training.recipe import Recipe

DESCRIPTIONS: tuple[type, ...] = (
    *(spaces.Sphere, spaces.Box, spaces.Euclidean),
    *(laws.Uniform, laws.VonMisesFisher, laws.Normal, laws.Laplace, laws.GeneralisedNormal, laws.Truncated),
    *(mixings.MLP, mixings.Linear, mixings.Smooth, mixings.Identity),
    *(processes.PairProcess, processes.ClusterProcess, processes.SectorProcess),
    *(processes.Clusters, processes.GivenClusters),
    *(similarities.Dot, similarities.Lp, similarities.LpNorm),
    *(objectives.InfoNCE, objectives.Regression, objectives.CrossEntropy, objectives.DIET),
    *(encoders.MLP, outputs.Sphere, outputs.Box, outputs.Free),
    *(Model, Recipe),
    *(batches.Fresh, batches.Local, batches.EvenLabels),
    *(optimisers.Adam, optimisers.SOAP),
    *(schedules.OneCycle, schedules.Constant),
)
