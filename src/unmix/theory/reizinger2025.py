"""The theorems of Cross-Entropy Is All You Need To Invert the Data Generating Process.

Reizinger, Bizeul, Juhos, Vogt, Balestriero, Brendel & Klindt, ICLR 2025, arXiv 2410.21869. Theorem 1 is about DIET and
has four cases, by what is of unit length; Theorem 2 is about class labels. All rest on one identity at the optimum,
β⟨w_i − w_k, f(x)⟩ = κ⟨v_i − v_k, z⟩, which by itself makes f linear in z.
"""

from __future__ import annotations

import math

from unmix.encoders import outputs
from unmix.indeterminacy import Indeterminacy, Linear, Orthogonal, ScaledOrthogonal
from unmix.laws import VonMisesFisher
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy
from unmix.processes import ClusterProcess
from unmix.theory.theorem import Assumption, HeadPromise, Theorem
from unmix.theory.zimmermann2021 import SAME_DIMENSION, UNIT_SPHERE, VMF

REFERENCE = "Reizinger et al. 2025"


def _unit_rows(model: Model) -> bool:
    return isinstance(model.objective, CrossEntropy) and model.objective.unit_rows


def _free_output(model: Model) -> bool:
    return isinstance(model.output, outputs.Free)


def _reach(model: Model, beta: float | None = None) -> float | None:
    """β times the length of the output where that is fixed, and β alone where it is free; None if it is learned."""
    if not isinstance(model.objective, CrossEntropy) or getattr(model.output, "learnable", False):
        return None
    if beta is None and model.objective.learn_temperature:
        return None
    radius = model.output.radius if isinstance(model.output, outputs.Sphere) else 1.0
    return (1 / model.objective.temperature if beta is None else beta) * radius


def _concentration(process: ClusterProcess) -> float:
    return process.conditional.concentration if isinstance(process.conditional, VonMisesFisher) else math.nan


def _beta_fits(process: ClusterProcess, model: Model) -> bool:
    reach, kappa = _reach(model), _concentration(process)
    return reach is None or math.isnan(kappa) or math.isclose(reach, kappa, rel_tol=1e-6)


INSTANCE_LABELS = Assumption(
    "the objective is DIET, without label smoothing",
    lambda process, model: isinstance(model.objective, DIET) and model.objective.label_smoothing == 0,
)
CLASS_LABELS = Assumption(
    "the objective is cross-entropy on class labels, without label smoothing",
    lambda process, model: (
        isinstance(model.objective, CrossEntropy)
        and not isinstance(model.objective, DIET)
        and model.objective.label_smoothing == 0
    ),
)
GENERATORS = Assumption(
    "the cluster vectors are an affine generator system of R^d", lambda process, model: process.affine_generators
)
UNIFORM_INSTANCES = Assumption("instance labels are uniform", lambda process, model: process.uniform_instances)
UNIFORM_CLASSES = Assumption("classes are uniform", lambda process, model: process.uniform_classes)
TRUE_LABELS = Assumption("no label is noise", lambda process, model: process.label_noise == 0)
FREE_OUTPUT = Assumption("f(x) is free", lambda process, model: _free_output(model))
UNIT_OUTPUT = Assumption("f(x) lies on a sphere", lambda process, model: isinstance(model.output, outputs.Sphere))
FREE_ROWS = Assumption("the rows of the head are free", lambda process, model: not _unit_rows(model))
UNIT_ROWS = Assumption("the rows of the head have unit length", lambda process, model: _unit_rows(model))
BETA = Assumption("β, times the length of f(x), is learned or equals κ", _beta_fits)
DIVERSE_AS_PUBLISHED = Assumption(
    "[v∘v, v] has rank 2d (diversity as published)", lambda process, model: process.diverse_as_published
)
DIVERSE = Assumption("[vech(vvᵀ), v] has rank d(d+3)/2 (diversity)", lambda process, model: process.diverse)
EXPRESSIBLE = Assumption(
    "the model can express the posterior: f(x) or the rows are free, or β fits",
    lambda process, model: (
        (_free_output(model) or isinstance(model.output, outputs.Sphere))
        and (_free_output(model) or not _unit_rows(model) or _beta_fits(process, model))
    ),
)


def _rotation(process: ClusterProcess, model: Model) -> Indeterminacy:
    fixed = isinstance(model.output, outputs.Sphere) and not model.output.learnable and model.output.radius == 1
    return Orthogonal() if fixed else ScaledOrthogonal()


def _linear(process: ClusterProcess, model: Model) -> Indeterminacy:
    return Linear()


def _radius(model: Model) -> float | None:
    sphere = model.output
    return sphere.radius if isinstance(sphere, outputs.Sphere) and not sphere.learnable else None


def _head_c1(process: ClusterProcess, model: Model, beta: float | None) -> HeadPromise:
    return HeadPromise(Orthogonal(), _radius(model), 1.0)


def _head_c2(process: ClusterProcess, model: Model, beta: float | None) -> HeadPromise:
    reach = _reach(model, beta)
    return HeadPromise(
        ScaledOrthogonal(offset=True), _radius(model), None if reach is None else _concentration(process) / reach
    )


def head_c3(process: ClusterProcess, model: Model, beta: float | None) -> HeadPromise:
    reach = _reach(model, beta)
    return HeadPromise(Orthogonal(), None if reach is None else _concentration(process) / reach, 1.0)


def _head_c4(process: ClusterProcess, model: Model, beta: float | None) -> HeadPromise:
    return HeadPromise(Linear(offset=True))


_WORLD = (SAME_DIMENSION, UNIT_SPHERE, VMF, GENERATORS, TRUE_LABELS)
_DIET = (INSTANCE_LABELS, *_WORLD, UNIFORM_INSTANCES)

C1 = Theorem("Theorem 1, case C1", REFERENCE, (*_DIET, UNIT_OUTPUT, UNIT_ROWS, BETA), _rotation, _head_c1)
C2 = Theorem("Theorem 1, case C2", REFERENCE, (*_DIET, UNIT_OUTPUT, FREE_ROWS), _rotation, _head_c2)
C3 = Theorem("Theorem 1, case C3", REFERENCE, (*_DIET, FREE_OUTPUT, UNIT_ROWS, DIVERSE), _rotation, head_c3)
C4 = Theorem("Theorem 1, case C4", REFERENCE, (*_DIET, FREE_OUTPUT, FREE_ROWS), _linear, _head_c4)
LINEAR_PART = Theorem("the linear part of Theorem 1", REFERENCE, (*_DIET, EXPRESSIBLE), _linear, _head_c4)
"""What the identity gives in every case, also where C3 lacks diversity: f linear in z, w affine in v."""

C3_AS_PUBLISHED = Theorem(
    "Theorem 1, case C3 as published",
    REFERENCE,
    (*_DIET, FREE_OUTPUT, UNIT_ROWS, DIVERSE_AS_PUBLISHED),
    _rotation,
    head_c3,
)
"""Not among `THEOREMS`: its condition is too weak, as a test shows by a counter-example."""

SUPERVISED = Theorem("Theorem 2", REFERENCE, (CLASS_LABELS, *_WORLD, UNIFORM_CLASSES, FREE_OUTPUT, FREE_ROWS), _linear)
THEOREMS = (C1, C2, C3, C4, SUPERVISED, LINEAR_PART)
