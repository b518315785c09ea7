"""What follows from the papers' theorems but is not in the papers: corollaries of our own.

**In a box, one scale.** At the optimum of InfoNCE the model's law of the second view is the process's, so
δ(h(z̃), h(z))/τ and δ(z̃, z) differ by no more than a function of z, for h = f∘g (the identity behind Theorems 5 and 6).
At z̃ = z both are 0, so that function is 0 and h multiplies every distance by one constant. For p = 2, a map that
multiplies all Euclidean distances by s is z → sQz + b with Q orthogonal. For p ≠ 2, Theorem 6 makes h a generalised
permutation, and the constant is the same for every coordinate. Where p = 2 and both τ and the extent e are fixed and
fit, s times the latents' cube is a cube of side e inside the cube [0, e]^d: of equal volume, so the two are equal, and
Q maps the cube's axes onto its axes. A learned extent can be larger than the image, which may then lie in it at any
angle: it gives no permutation.

**On a sphere, −L2² is a dot product.** ‖a − b‖² = 2r² − 2⟨a, b⟩ for a and b of length r, so −‖a − b‖²/τ is
2⟨a, b⟩/τ and a constant, which the softmax does not see: Theorem 2 with 2r²/τ in the place of r²/τ. The distance that
is not squared is a function of ⟨a, b⟩ too, but not a linear one.

**Class labels are instance labels of one instance a class.** Cross-entropy with one row for each class is DIET with as
many instances as classes. If classes are uniform, p(c|z) ∝ exp(κ⟨v_c, z⟩), as there; else log π_c is added to the
exponent, and the rows are no longer a function of v alone. So class labels are promised all that Theorem 1 promises
DIET.
"""

from __future__ import annotations

import math
from dataclasses import replace

from unmix.encoders import outputs
from unmix.indeterminacy import Indeterminacy, ScaledOrthogonal, ScaledPermutation, SignedPermutation
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.processes import PairProcess
from unmix.similarities import Lp
from unmix.spaces import Box
from unmix.theory import reizinger2025, zimmermann2021
from unmix.theory.reizinger2025 import CLASS_LABELS, INSTANCE_LABELS, UNIFORM_CLASSES, UNIFORM_INSTANCES
from unmix.theory.theorem import Assumption, Theorem
from unmix.theory.zimmermann2021 import (
    BOX_TO_BOX,
    INFO_NCE,
    SPHERE_OUTPUT,
    SPHERE_TO_SPHERE,
    VMF,
    concentration,
    reach,
    rotation,
    scale_is_free,
)


def _of(reference: str) -> str:
    return f"unmix, a corollary of {reference}"


def _one_scale(process: PairProcess, model: Model) -> Indeterminacy:
    law, space, output = process.conditional, process.space, model.output
    assert isinstance(law, AdditiveLaw)
    assert isinstance(space, Box)
    assert isinstance(output, outputs.Box)
    if scale_is_free(model):
        return ScaledOrthogonal(offset=True) if law.power == 2 else ScaledPermutation(offset=True)
    same_size = math.isclose(output.extent, space.width, rel_tol=1e-6)
    return SignedPermutation(offset=True) if same_size else ScaledPermutation(offset=True)


ONE_SCALE = Theorem("Theorems 5 and 6 with one scale", _of(zimmermann2021.REFERENCE), BOX_TO_BOX, _one_scale)

SQUARED_DISTANCE = Assumption(
    "the similarity is −L2², on a sphere a dot product",
    lambda process, model: isinstance(model.objective.similarity, Lp) and model.objective.similarity.p == 2,
    rests_on=(INFO_NCE, SPHERE_OUTPUT),
)
TWICE_THE_CONCENTRATION = Assumption(
    "2r²/τ equals κ, or r or τ is learned",
    lambda process, model: scale_is_free(model) or math.isclose(2 * reach(model), concentration(process), rel_tol=1e-6),
    rests_on=(VMF, SQUARED_DISTANCE),
)
DISTANCE_ON_A_SPHERE = Theorem(
    "Theorem 2 for −L2²",
    _of(zimmermann2021.REFERENCE),
    (*SPHERE_TO_SPHERE, SQUARED_DISTANCE, TWICE_THE_CONCENTRATION),
    rotation,
)


def for_class_labels(theorem: Theorem) -> Theorem:
    """A theorem about DIET, for cross-entropy on classes that are uniform."""
    swapped = {INSTANCE_LABELS: CLASS_LABELS, UNIFORM_INSTANCES: UNIFORM_CLASSES}
    return replace(
        theorem,
        name=f"{theorem.name}, for class labels",
        reference=_of(theorem.reference),
        assumptions=tuple(swapped.get(a, a) for a in theorem.assumptions),
    )


C1, C2, C3, C4, LINEAR_PART = map(
    for_class_labels,
    (reizinger2025.C1, reizinger2025.C2, reizinger2025.C3, reizinger2025.C4, reizinger2025.LINEAR_PART),
)

OF_PAIRS = (ONE_SCALE, DISTANCE_ON_A_SPHERE)
OF_CLUSTERS = (C1, C2, C3, C4, LINEAR_PART)
