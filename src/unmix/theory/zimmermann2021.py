"""The three theorems of Contrastive Learning Inverts the Data Generating Process.

Zimmermann, Sharma, Schneider, Bethge & Brendel, ICML 2021, arXiv 2102.08850.
"""

from __future__ import annotations

import math

from unmix.encoders import outputs
from unmix.indeterminacy import GeneralisedPermutation, Indeterminacy, Linear, Orthogonal, ScaledOrthogonal
from unmix.laws import Uniform, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.objectives import InfoNCE
from unmix.processes import ClusterProcess, PairProcess, Process
from unmix.similarities import Dot, Lp, LpNorm
from unmix.spaces import Box, Sphere
from unmix.theory.theorem import Assumption, Theorem

REFERENCE = "Zimmermann et al. 2021"


def scale_is_free(model: Model) -> bool:
    """Whether the model's temperature or the scale of its output is learned."""
    learned_temperature = isinstance(model.objective, InfoNCE) and model.objective.learn_temperature
    return learned_temperature or getattr(model.output, "learnable", False)


def reach(model: Model) -> float:
    """r²/τ of a model of which SPHERE_OUTPUT and INFO_NCE hold."""
    output, objective = model.output, model.objective
    assert isinstance(output, outputs.Sphere)
    assert isinstance(objective, InfoNCE)
    return output.radius**2 / objective.temperature


def concentration(process: PairProcess | ClusterProcess) -> float:
    """κ of a process of which VMF holds."""
    assert isinstance(process.conditional, VonMisesFisher)
    return process.conditional.concentration


def _concentration_matches(process: PairProcess, model: Model) -> bool:
    return scale_is_free(model) or math.isclose(reach(model), concentration(process), rel_tol=1e-6)


def _same_family(process: PairProcess, model: Model) -> bool:
    law, objective = process.conditional, model.objective
    assert isinstance(law, AdditiveLaw)
    assert isinstance(objective, InfoNCE)
    s = objective.similarity
    return (isinstance(s, Lp) and s.p == law.power) or (isinstance(s, LpNorm) and s.p == law.power == 1)


def _extent_matches(process: PairProcess, model: Model) -> bool:
    space, law, output, objective = process.space, process.conditional, model.output, model.objective
    assert isinstance(space, Box)
    assert isinstance(law, AdditiveLaw)
    assert isinstance(output, outputs.Box)
    assert isinstance(objective, InfoNCE)
    if scale_is_free(model):
        return True
    # The model's exp(−(e u)^p/τ) on u in [0, 1] must equal the law's exp(−(width u/spread)^p).
    extent = output.extent * objective.temperature ** (-1 / law.power)
    return math.isclose(extent, space.width / law.spread, rel_tol=1e-6)


INFO_NCE = Assumption(
    "the objective is InfoNCE", lambda process, model: isinstance(model.objective, InfoNCE), defining=True
)
UNIFORM = Assumption(
    "the marginal is uniform",
    lambda process, model: (
        isinstance(process.marginal, Uniform)
        or (isinstance(process.marginal, VonMisesFisher) and process.marginal.concentration == 0)
    ),
)
INJECTIVE = Assumption(
    "the mixing is injective",
    lambda process, model: process.injectivity.holds,
    seen=lambda process, model: process.injectivity.seen,
)
SAME_DIMENSION = Assumption(
    "the model has as many outputs as there are latents",
    lambda process, model: model.dimension in (None, process.dimension),
)
UNIT_SPHERE = Assumption(
    "the latents live on the unit sphere",
    lambda process, model: isinstance(process.space, Sphere) and process.space.radius == 1,
    defining=True,
)
VMF = Assumption(
    "the conditional is von Mises-Fisher with κ > 0",
    lambda process, model: isinstance(process.conditional, VonMisesFisher) and process.conditional.concentration > 0,
)
SPHERE_OUTPUT = Assumption(
    "the model's output lies on a sphere", lambda process, model: isinstance(model.output, outputs.Sphere)
)
DOT_PRODUCT = Assumption(
    "the similarity is the dot product",
    lambda process, model: isinstance(model.objective.similarity, Dot),
    rests_on=(INFO_NCE,),
)
CONCENTRATION = Assumption(
    "r²/τ equals κ, or r or τ is learned", _concentration_matches, rests_on=(VMF, SPHERE_OUTPUT, DOT_PRODUCT)
)

CONVEX_BODY = Assumption(
    "the latents live in a convex body (a box)", lambda process, model: isinstance(process.space, Box), defining=True
)
NORM_LAW = Assumption(
    "the conditional is ∝ exp(−δ) with δ a norm or its power",
    lambda process, model: isinstance(process.conditional, AdditiveLaw) and process.conditional.power >= 1,
)
BOX_OUTPUT = Assumption(
    "the model's output lies in a convex body (a box)",
    lambda process, model: isinstance(model.output, outputs.Box),
)
SAME_FAMILY = Assumption(
    "the similarity is −δ with the conditional's exponent", _same_family, rests_on=(INFO_NCE, NORM_LAW)
)
EXTENT = Assumption(
    "the output's extent fits the conditional's scale, or it or τ is learned",
    _extent_matches,
    rests_on=(CONVEX_BODY, BOX_OUTPUT, SAME_FAMILY),
)
ONE_SIDED = Assumption(
    "negatives follow the marginal (in a box the view's law differs near the border, so one-sided only)",
    lambda process, model: not model.objective.two_sided,
    rests_on=(INFO_NCE,),
)
OWN_KERNEL = Assumption(
    "negatives are seen through the model's own kernel (no theorem is about a wider one)",
    lambda process, model: not model.objective.widen,
    rests_on=(INFO_NCE,),
)
NOT_EUCLIDEAN = Assumption(
    "the exponent is not 2 (rotations keep the L2 distance)",
    lambda process, model: process.conditional.power != 2,
    rests_on=(NORM_LAW,),
)


def rotation(process: Process, model: Model) -> Indeterminacy:
    """Orthogonal where the output lies on the unit sphere, scaled orthogonal on another one."""
    fixed = isinstance(model.output, outputs.Sphere) and not model.output.learnable and model.output.radius == 1
    return Orthogonal() if fixed else ScaledOrthogonal()


SPHERE_TO_SPHERE = (INFO_NCE, SAME_DIMENSION, INJECTIVE, UNIT_SPHERE, UNIFORM, VMF, SPHERE_OUTPUT, OWN_KERNEL)
BOX_TO_BOX = (
    INFO_NCE, SAME_DIMENSION, INJECTIVE, CONVEX_BODY, UNIFORM, NORM_LAW, BOX_OUTPUT, SAME_FAMILY, EXTENT, ONE_SIDED,
    OWN_KERNEL,
)  # fmt: skip

THEOREM_2 = Theorem("Theorem 2", REFERENCE, (*SPHERE_TO_SPHERE, DOT_PRODUCT, CONCENTRATION), rotation)
THEOREM_5 = Theorem("Theorem 5", REFERENCE, BOX_TO_BOX, lambda process, model: Linear(offset=True))
THEOREM_6 = Theorem(
    "Theorem 6",
    REFERENCE,
    (*BOX_TO_BOX, NOT_EUCLIDEAN),
    lambda process, model: GeneralisedPermutation(offset=True),
)
THEOREMS = (THEOREM_2, THEOREM_5, THEOREM_6)
