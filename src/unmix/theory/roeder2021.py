"""The theorem of On Linear Identifiability of Learned Representations.

Roeder, Metz & Kingma, ICML 2021, arXiv 2007.00810. Its subject is two models of the same labels; it promises that
if they define the same distribution, their f are equal up to an invertible linear map A, and their g, centred over
labels, up to A^{-T} (the latter by the same algebra). With a bias in the softmax the map of f is affine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmix.encoders import outputs
from unmix.indeterminacy import Indeterminacy, Linear
from unmix.objectives import CrossEntropy
from unmix.theory.theorem import Assumption, Theorem
from unmix.theory.zimmermann2021 import INJECTIVE, SAME_DIMENSION

if TYPE_CHECKING:
    from unmix.canonical.model import CanonicalModel


def _promise(first: CanonicalModel, second: CanonicalModel) -> Indeterminacy:
    return Linear(offset=first.bias is not None or second.bias is not None)


SAME_LABELS = Assumption("the models have the same labels", lambda first, second: first.labels == second.labels)
EQUAL_WIDTH = Assumption("f and f′ have the same width M", lambda first, second: first.width == second.width)
ENOUGH_LABELS = Assumption(
    "there are at least M + 1 labels", lambda first, second: first.labels >= max(first.width, second.width) + 1
)
DIVERSITY = Assumption(
    "differences of g span all of R^M in both models (diversity)",
    lambda first, second: first.rank == first.width and second.rank == second.width,
)

THEOREM_1 = Theorem("Theorem 1", "Roeder et al. 2021", (SAME_LABELS, EQUAL_WIDTH, ENOUGH_LABELS, DIVERSITY), _promise)

# Of a process whose labels are drawn from a member of the model class: the process is one of the two models, a trained
# one the other, and so any two trained ones are alike too.

CROSS_ENTROPY = Assumption(
    "the objective is cross-entropy on class labels, without label smoothing",
    lambda process, model: type(model.objective) is CrossEntropy and model.objective.label_smoothing == 0,
    defining=True,
)
DRAWN_LABELS = Assumption(
    "labels are drawn from a member of the model class", lambda process, model: process.sharpness is not None
)
MORE_LABELS = Assumption("there are at least M + 1 labels", lambda process, model: process.classes >= 3)
CANONICAL = Assumption(
    "f(x) and the rows of the head are free",
    lambda process, model: isinstance(model.output, outputs.Free) and not model.objective.unit_rows,
    rests_on=(CROSS_ENTROPY,),
)
THEOREM_1_REALISED = Theorem(
    "Theorem 1, with the process as one of the two models",
    "Roeder et al. 2021",
    (CROSS_ENTROPY, SAME_DIMENSION, INJECTIVE, DRAWN_LABELS, MORE_LABELS, CANONICAL),
    lambda process, model: Linear(),
)
