"""The theorems of Cross-Entropy Is All You Need To Invert the Data Generating Process.

Reizinger, Bizeul, Juhos, Vogt, Balestriero, Brendel & Klindt, ICLR 2025, arXiv 2410.21869. Theorem 1 is about DIET and
has four cases, by what is of unit length; Theorem 2 is about class labels. All rest on one identity at the optimum,
β⟨w_i − w_k, f(x)⟩ = κ⟨v_i − v_k, z⟩, which by itself makes f linear in z.
"""

from __future__ import annotations

import math

from torch import Tensor

from unmix.encoders import outputs
from unmix.indeterminacy import Indeterminacy, Linear, Orthogonal, ScaledOrthogonal
from unmix.mixings.conditioning import FAINT, margin
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy
from unmix.processes import ClusterProcess, diversity
from unmix.theory.theorem import Assumption, HeadPromise, Theorem
from unmix.theory.zimmermann2021 import INJECTIVE, SAME_DIMENSION, UNIT_SPHERE, VMF, concentration, rotation

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


def _beta_fits(process: ClusterProcess, model: Model) -> bool:
    reach = _reach(model)
    return reach is None or math.isclose(reach, concentration(process), rel_tol=1e-6)


def _only_just(table: Tensor) -> str:
    """Words for a rank that a table has by a margin which training in float32 can hardly see."""
    left = margin(table)
    return f"only just: the smallest singular value is {left:.1g} of the largest" if 0 < left < FAINT else ""


HEAD = Assumption(
    "the objective has a head with a row for each label",
    lambda process, model: isinstance(model.objective, CrossEntropy),
    defining=True,
)
INSTANCE_LABELS = Assumption(
    "the objective is DIET", lambda process, model: isinstance(model.objective, DIET), defining=True
)
CLASS_LABELS = Assumption(
    "the objective is cross-entropy on class labels, with one row for each class and no bias",
    lambda process, model: type(model.objective) is CrossEntropy,  # of a subclass, labels and bias are not known
    defining=True,
)
HARD_LABELS = Assumption(
    "labels are not smoothed", lambda process, model: model.objective.label_smoothing == 0, rests_on=(HEAD,)
)
GENERATORS = Assumption(
    "the cluster vectors are an affine generator system of R^d",
    lambda process, model: process.affine_generators,
    seen=lambda process, model: _only_just(diversity.differences(process.vectors)),
)
UNIFORM_INSTANCES = Assumption("instance labels are uniform", lambda process, model: process.uniform_instances)
UNIFORM_CLASSES = Assumption("classes are uniform", lambda process, model: process.uniform_classes)
TRUE_LABELS = Assumption("no label is noise", lambda process, model: process.label_noise == 0)
FREE_OUTPUT = Assumption("f(x) is free", lambda process, model: _free_output(model), defining=True)
UNIT_OUTPUT = Assumption(
    "f(x) lies on a sphere", lambda process, model: isinstance(model.output, outputs.Sphere), defining=True
)
FREE_ROWS = Assumption(
    "the rows of the head are free", lambda process, model: not _unit_rows(model), rests_on=(HEAD,), defining=True
)
UNIT_ROWS = Assumption(
    "the rows of the head have unit length", lambda process, model: _unit_rows(model), rests_on=(HEAD,), defining=True
)
BETA = Assumption(
    "β, times the length of f(x), is learned or equals κ", _beta_fits, rests_on=(VMF, UNIT_OUTPUT, UNIT_ROWS)
)
DIVERSE_AS_PUBLISHED = Assumption(
    "[v∘v, v] has rank 2d (diversity as published)", lambda process, model: process.diverse_as_published
)
DIVERSE = Assumption(
    "[vech(vvᵀ), v] has rank d(d+3)/2 (diversity)",
    lambda process, model: process.diverse,
    seen=lambda process, model: _only_just(diversity.corrected(process.vectors)),
)
SUITABLE_OUTPUT = Assumption(
    "f(x) is free or lies on a sphere",
    lambda process, model: _free_output(model) or isinstance(model.output, outputs.Sphere),
)
EXPRESSIBLE = Assumption(
    "the model can express the posterior: f(x) or the rows are free, or β fits",
    lambda process, model: _free_output(model) or not _unit_rows(model) or _beta_fits(process, model),
    rests_on=(HEAD, VMF, SUITABLE_OUTPUT),
)


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
        ScaledOrthogonal(offset=True), _radius(model), None if reach is None else concentration(process) / reach
    )


def head_c3(process: ClusterProcess, model: Model, beta: float | None) -> HeadPromise:
    reach = _reach(model, beta)
    return HeadPromise(Orthogonal(), None if reach is None else concentration(process) / reach, 1.0)


def _head_c4(process: ClusterProcess, model: Model, beta: float | None) -> HeadPromise:
    return HeadPromise(Linear(offset=True))


_WORLD = (SAME_DIMENSION, INJECTIVE, UNIT_SPHERE, VMF, GENERATORS, TRUE_LABELS)
_DIET = (INSTANCE_LABELS, HARD_LABELS, *_WORLD, UNIFORM_INSTANCES)

C1 = Theorem("Theorem 1, case C1", REFERENCE, (*_DIET, UNIT_OUTPUT, UNIT_ROWS, BETA), rotation, _head_c1)
C2 = Theorem("Theorem 1, case C2", REFERENCE, (*_DIET, UNIT_OUTPUT, FREE_ROWS), rotation, _head_c2)
C3 = Theorem("Theorem 1, case C3", REFERENCE, (*_DIET, FREE_OUTPUT, UNIT_ROWS, DIVERSE), rotation, head_c3)
C4 = Theorem("Theorem 1, case C4", REFERENCE, (*_DIET, FREE_OUTPUT, FREE_ROWS), _linear, _head_c4)
LINEAR_PART = Theorem(
    "the linear part of Theorem 1", REFERENCE, (*_DIET, SUITABLE_OUTPUT, EXPRESSIBLE), _linear, _head_c4
)
"""What the identity gives in every case, also where C3 lacks diversity: f linear in z, w affine in v."""

C3_AS_PUBLISHED = Theorem(
    "Theorem 1, case C3 as published",
    REFERENCE,
    (*_DIET, FREE_OUTPUT, UNIT_ROWS, DIVERSE_AS_PUBLISHED),
    rotation,
    head_c3,
)
"""Not among `THEOREMS`: its condition is too weak, as a test shows by a counter-example."""

SUPERVISED = Theorem(
    "Theorem 2", REFERENCE, (CLASS_LABELS, HARD_LABELS, *_WORLD, UNIFORM_CLASSES, FREE_OUTPUT, FREE_ROWS), _linear
)
THEOREMS = (C1, C2, C3, C4, SUPERVISED, LINEAR_PART)
