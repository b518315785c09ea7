"""Up to what two representations agree: a ladder of classes of maps."""

from unmix.indeterminacy.classes import (
    LADDER,
    GeneralisedPermutation,
    Identity,
    Linear,
    Orthogonal,
    ScaledOrthogonal,
    ScaledPermutation,
    SignedPermutation,
)
from unmix.indeterminacy.indeterminacy import FittedMap, Indeterminacy

AFFINE = Linear(offset=True)

__all__ = [
    "AFFINE",
    "LADDER",
    "FittedMap",
    "GeneralisedPermutation",
    "Identity",
    "Indeterminacy",
    "Linear",
    "Orthogonal",
    "ScaledOrthogonal",
    "ScaledPermutation",
    "SignedPermutation",
]
