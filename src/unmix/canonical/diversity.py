"""The diversity condition: do the labels tell enough about f?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray
from scipy.linalg import qr

from unmix.canonical.model import CanonicalModel

MANY_DRAWS, FEW_DRAWS, WIDE = 200, 20, 64


@dataclass(frozen=True, eq=False)
class Diversity:
    """How well M differences g(y) − g(y₀) of a model can be inverted.

    Attributes
    ----------
    enough_labels : K ≥ M + 1.
    rank, spectrum, condition : of centred g; the condition number is of its rank's singular values.
    chosen : the labels picked by pivoted QR, the first of them y₀; rank + 1 of them.
    chosen_condition : the condition number of L, the differences of the chosen labels.
    random_condition : the median of that over random choices of as many labels.
    f_rank, f_condition : of f over the inputs, for the weaker condition that makes g identifiable.
    """

    labels: int
    width: int
    rank: int
    spectrum: Float64[ndarray, " s"]
    condition: float
    chosen: Int64[ndarray, " r"]
    chosen_condition: float
    random_condition: float
    f_rank: int
    f_condition: float

    @property
    def enough_labels(self) -> bool:
        return self.labels >= self.width + 1

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; a condition number beyond float64 is null."""
        plain = {k: v.tolist() if isinstance(v, ndarray) else v for k, v in vars(self).items()}
        return {k: None if v == np.inf else v for k, v in plain.items()} | {"enough_labels": self.enough_labels}


def diversity(model: CanonicalModel, seed: int = 0) -> Diversity:
    """Check the diversity condition on one model.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> d = diversity(CanonicalModel(rng.normal(size=(50, 3)), rng.normal(size=(10, 3))))
    >>> d.rank, d.enough_labels, bool(d.chosen_condition < d.random_condition)
    (3, True, True)
    """
    seen = model.seen()
    chosen = best_labels(seen)
    rng = np.random.default_rng([seed, 3])
    draws = MANY_DRAWS if seen.width <= WIDE else FEW_DRAWS
    sets = (rng.choice(model.labels, len(chosen), replace=False) for _ in range(draws))
    f_values = np.linalg.svd(model.f, compute_uv=False)
    f_rank = int((f_values > f_values[0] * max(model.f.shape) * np.finfo(float).eps).sum()) if f_values[0] else 0
    return Diversity(
        labels=model.labels,
        width=model.width,
        rank=model.rank,
        spectrum=model.spectrum,
        condition=_ratio(model.spectrum[: model.rank]),
        chosen=chosen,
        chosen_condition=condition(seen, chosen),
        random_condition=float(np.median([condition(seen, some) for some in sets])),
        f_rank=f_rank,
        f_condition=_ratio(f_values[:f_rank]),
    )


def best_labels(seen: CanonicalModel) -> Int64[ndarray, " r"]:
    """The rank + 1 labels in general position that pivoted QR finds, the best of them first as y₀."""
    size = np.linalg.norm(seen.centred_g, axis=1).mean() or 1.0
    lifted = np.hstack([np.ones((seen.labels, 1)), seen.centred_g / size])
    pivots = np.asarray(qr(lifted.T, mode="r", pivoting=True)[1][: min(seen.labels, seen.width + 1)], np.int64)
    bases = range(len(pivots)) if len(pivots) <= WIDE else range(1)
    return min((np.roll(pivots, -i) for i in bases), key=lambda order: condition(seen, order))


def differences(model: CanonicalModel, labels: Int64[ndarray, " r"]) -> Float64[ndarray, "width s"]:
    """L: the columns g(y) − g(y₀), y₀ the first of the labels."""
    return (model.g[labels[1:]] - model.g[labels[0]]).T


def condition(model: CanonicalModel, labels: Int64[ndarray, " r"]) -> float:
    """The condition number of L for some labels."""
    return _ratio(np.linalg.svd(differences(model, labels), compute_uv=False))


def _ratio(values: Float64[ndarray, " s"]) -> float:
    return float(values[0] / values[-1]) if len(values) and values[-1] > 0 else float("inf")
