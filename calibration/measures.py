"""The measures that are tried: each one that there is, in its usual form."""

from __future__ import annotations

from unmix.indeterminacy import Orthogonal
from unmix.measures import (
    CCA,
    CKA,
    ICA,
    MCC,
    PWCCA,
    R2,
    RSA,
    SVCCA,
    DistanceCorrelation,
    KernelCKA,
    Neighbours,
    Procrustes,
    UpTo,
)
from unmix.measures.measure import Measure

MEASURES: tuple[Measure, ...] = (
    R2(),
    UpTo(Orthogonal(offset=True)),
    CCA(),
    SVCCA(components=2),
    PWCCA(),
    Procrustes(),
    CKA(),
    CKA(debiased=False),
    MCC(),
    ICA(),
    RSA(),
    DistanceCorrelation(),
    KernelCKA(),
    Neighbours(),
)
SELDOM = 4
"""ICA, whose fits take as long as all others together, is tried in one repetition of so many."""


def tried(repetition: int) -> tuple[Measure, ...]:
    """The measures of one repetition."""
    return tuple(m for m in MEASURES if not isinstance(m, ICA) or repetition % SELDOM == 0)
