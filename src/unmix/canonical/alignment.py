"""The linear map between the representations of two models, found in three ways that must agree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from unmix.canonical.diversity import best_labels, differences
from unmix.canonical.model import CanonicalModel
from unmix.indeterminacy import FittedMap, Linear
from unmix.moments import Moments

ASSUMES = {
    "labels": "the two distributions are equal; uses g alone, of all labels",
    "pairs": "the two distributions are equal; uses g alone, of rank + 1 labels, and amplifies by the condition of L",
    "regression": "nothing but a linear relation of f; uses f alone",
}


@dataclass(frozen=True, eq=False)
class Alignment:
    """f′ ≈ A f + c, where A comes from the labels, from label pairs, and from regression of f′ on f.

    Attributes
    ----------
    maps : way → map.
    disagreement : two ways → root-mean-square difference of their predictions of f′, relative to f′ itself.
    halves : the same of two regressions on disjoint halves of the inputs.
    g_residual : ‖G′ − G A⁻¹‖/‖G′‖ of centred g, with A from regression: how far B = A^{-T} fails.
    """

    maps: dict[str, FittedMap]
    disagreement: dict[tuple[str, str], float]
    halves: float
    g_residual: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "A": {way: m.matrix.tolist() for way, m in self.maps.items()},
            "c": {way: m.offset.tolist() for way, m in self.maps.items()},
            "assumes": ASSUMES,
            "disagreement": {f"{a}, {b}": value for (a, b), value in self.disagreement.items()},
            "halves": self.halves,
            "g_residual": self.g_residual,
        }


def align(first: CanonicalModel, second: CanonicalModel, half: Bool[ndarray, " n"]) -> Alignment:
    """Find A with f′ = A f, f of the first model and f′ of the second, both in the coordinates that they can see.

    `half` marks one half of the inputs, groups kept whole.

    From labels, A = pinv(G′) G with g centred over labels; from pairs, A = L′^{-T} Lᵀ; with biases also
    c = pinv(G′)(b − b′). For a fitted A the theory says G′ = G A⁻¹.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> f, g, a = rng.normal(size=(50, 3)), rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    >>> found = align(CanonicalModel(f, g), CanonicalModel(f @ a.T, g @ np.linalg.inv(a)), np.arange(50) < 25)
    >>> bool(np.allclose(found.maps["labels"].matrix, a)), found.g_residual < 1e-9
    (True, True)
    """
    biased = first.bias is not None or second.bias is not None
    shift = first.centred_bias - second.centred_bias
    inverse = np.linalg.pinv(second.centred_g)
    labels = best_labels(second)
    pairs = np.linalg.pinv(differences(second, labels).T)
    regression = Linear(offset=biased)
    maps = {
        "labels": FittedMap(inverse @ first.centred_g, inverse @ shift),
        "pairs": FittedMap(pairs @ differences(first, labels).T, pairs @ (shift[labels[1:]] - shift[labels[0]])),
        "regression": regression.fit(Moments.of(first.f, second.f)),
    }
    parts = [regression.fit(Moments.of(first.f[rows], second.f[rows])) for rows in (half, ~half)]
    theirs = second.centred_g
    residual = theirs - first.centred_g @ np.linalg.pinv(maps["regression"].matrix)
    disagreement = {(a, b): _apart(maps[a], maps[b], first, second) for a, b in combinations(maps, 2)}
    failure = float(np.linalg.norm(residual) / (np.linalg.norm(theirs) or 1.0))
    return Alignment(maps, disagreement, _apart(parts[0], parts[1], first, second), failure)


def _apart(one: FittedMap, other: FittedMap, first: CanonicalModel, second: CanonicalModel) -> float:
    """The root-mean-square difference of two predictions of f′ from f, relative to f′."""
    size = np.sqrt((second.f**2).mean()) or 1.0
    return float(np.sqrt(((one(first.f) - other(first.f)) ** 2).mean()) / size)
