"""The smallest classes of maps that explain as much as affine ones."""

from __future__ import annotations

from collections.abc import Mapping

from unmix.indeterminacy import AFFINE, Indeterminacy

TOLERANCE = 0.02


def minimal_classes(r2: Mapping[Indeterminacy, float], tolerance: float = TOLERANCE) -> tuple[Indeterminacy, ...]:
    """The smallest classes whose R² is within `tolerance` of affine's; classes are ordered in part, so perhaps two.

    Examples
    --------
    >>> from unmix.indeterminacy import Identity, Orthogonal
    >>> [str(c) for c in minimal_classes({Identity(): 0.2, Orthogonal(): 0.98, AFFINE: 0.99})]
    ['orthogonal']
    """
    enough = [c for c, value in r2.items() if value >= r2[AFFINE] - tolerance]
    return tuple(c for c in enough if not any(smaller < c for smaller in enough))
