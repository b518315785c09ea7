"""unmix: identifiable representation learning.

A process mixes latents into observations; an encoder trained with an objective gives a representation;
a guarantee says beforehand up to what it should equal the latents, and a recovery says afterwards up to
what it does.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from unmix import (
    activations,
    callbacks,
    encoders,
    factors,
    indeterminacy,
    laws,
    measures,
    mixings,
    objectives,
    papers,
    similarities,
    spaces,
    tables,
    theory,
)  # fmt: skip
from unmix.audit import AuditReport, ClusterRecovery, audit, cluster_recovery
from unmix.canonical import CanonicalModel, ModelComparison, compare_models
from unmix.comparison import Comparison, LayerComparison, compare, compare_layers
from unmix.encoders import outputs
from unmix.errors import InputError, RunFolderError, TrainingDiverged
from unmix.laws import GeneralisedNormal, Laplace, Normal, Truncated, Uniform, VonMisesFisher
from unmix.measures import Recovery, mcc, recovery
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy, InfoNCE, Regression
from unmix.optimality import Optimality
from unmix.papers import Reproduction, reproduce
from unmix.processes import ClusterProcess, Clusters, GivenClusters, PairProcess, Pairs, Process, SectorProcess
from unmix.randomness import stream
from unmix.similarities import Dot, Lp, LpNorm
from unmix.spaces import Box, Euclidean, Sphere
from unmix.theory import Guarantee, guarantee
from unmix.training import Fit, Interrupted, Recipe, fit, load, recipes

if TYPE_CHECKING:
    from unmix import estimators

__version__ = version("unmix")


def __getattr__(name: str) -> Any:
    """The estimators are read when they are asked for: scikit-learn is slow to import."""
    if name == "estimators":
        return import_module("unmix.estimators")
    raise AttributeError(f"module 'unmix' has no attribute {name!r}")


__all__ = [
    "DIET",
    "AuditReport",
    "Box",
    "CanonicalModel",
    "ClusterProcess",
    "ClusterRecovery",
    "Clusters",
    "Comparison",
    "CrossEntropy",
    "Dot",
    "Euclidean",
    "Fit",
    "GeneralisedNormal",
    "GivenClusters",
    "Guarantee",
    "InfoNCE",
    "InputError",
    "Interrupted",
    "Laplace",
    "LayerComparison",
    "Lp",
    "LpNorm",
    "Model",
    "ModelComparison",
    "Normal",
    "Optimality",
    "PairProcess",
    "Pairs",
    "Process",
    "Recipe",
    "Recovery",
    "Regression",
    "Reproduction",
    "RunFolderError",
    "SectorProcess",
    "Sphere",
    "TrainingDiverged",
    "Truncated",
    "Uniform",
    "VonMisesFisher",
    "activations",
    "audit",
    "callbacks",
    "cluster_recovery",
    "compare",
    "compare_layers",
    "compare_models",
    "encoders",
    "estimators",
    "factors",
    "fit",
    "guarantee",
    "indeterminacy",
    "laws",
    "load",
    "mcc",
    "measures",
    "mixings",
    "objectives",
    "outputs",
    "papers",
    "recipes",
    "recovery",
    "reproduce",
    "similarities",
    "spaces",
    "stream",
    "tables",
    "theory",
]
