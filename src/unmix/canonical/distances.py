"""How far apart the distributions of two models are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray
from scipy.special import logsumexp

from unmix.canonical.model import CanonicalModel
from unmix.measures.evaluate import permuted
from unmix.measures.paired import Paired
from unmix.measures.score import jackknife_spread, next_to_chance

ENTRIES, NULL_ROWS, FEWEST_ROWS = 2**22, 500, 100
ASSUMES = {
    "KL": "nothing; close to 0 does not mean that f and f′ are alike (rare labels hardly count)",
    "KL back": "nothing; close to 0 does not mean that f and f′ are alike (rare labels hardly count)",
    "JS": "nothing; close to 0 does not mean that f and f′ are alike (rare labels hardly count)",
    "logits": "logits centred over labels; every label counts alike; 0 only if the distributions are equal",
}


@dataclass(frozen=True)
class Distance:
    """A distance averaged over inputs, with its interval and what chance says of it.

    Attributes
    ----------
    null : its mean for inputs paired at random.
    p_value, p_beyond_place : the share of such pairings that bring the models at least as near as they are, as in
        `Score`; None where there is none.
    not_judged : why chance cannot be judged; empty where it can.
    permutations : how often inputs were paired anew for the null.
    """

    value: float
    low: float
    high: float
    null: float
    p_value: float | None
    assumes: str
    p_beyond_place: float | None = None
    not_judged: str = ""
    permutations: int = 0

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    def __str__(self) -> str:
        """The distance and its interval, which have no scale, in three digits that count; chance and p."""
        chance = next_to_chance(
            f"{self.null:.3g}", self.p_value, self.p_beyond_place, self.permutations, self.not_judged
        )
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}], {chance}"


def distances(
    first: CanonicalModel, second: CanonicalModel, paired: Paired, permutations: int
) -> tuple[dict[str, Distance], float]:
    """Mean KL both ways, Jensen-Shannon (nats), and the squared distance of centred logits, over the inputs.

    The last number is 1 − E‖ℓ − ℓ′‖²/E‖ℓ‖². The null is taken on at most 500 inputs. `paired` says which inputs
    belong together, or that they are in time.
    """
    step = max(1, ENTRIES // first.labels)
    parts, square = [], 0.0
    for a in range(0, first.inputs, step):
        ours, theirs = (m.logits(slice(a, a + step)) for m in (first, second))
        parts.append(_rows(ours, theirs))
        square += float(np.sum(ours**2))
    rows = {name: np.concatenate([p[name] for p in parts]) for name in ASSUMES}

    some = paired.index.fewer(max(FEWEST_ROWS, min(NULL_ROWS, step))).exchangeable()
    number = some.x[:, 0].astype(np.int64)
    ours, theirs = (m.logits(number) for m in (first, second))
    unit = {name: float(value.mean()) or 1.0 for name, value in _rows(ours, theirs).items()}

    def nearness(order: Int64[ndarray, " m"]) -> list[float]:
        return [-float(value.mean()) / unit[name] for name, value in _rows(ours, theirs[order]).items()]

    some = replace(some, x=first.f[number][:, paired.kept_x], y=second.f[number][:, paired.kept_y])
    chances = permuted(some, nearness, [None] * len(ASSUMES), permutations)
    why = paired.sample.exchangeable().unjudged()  # of more rows than these
    found = {}
    for name, chance in zip(ASSUMES, chances, strict=True):
        judged = replace(chance, not_judged=why or chance.not_judged)
        mean = float(rows[name].mean())
        below, above = jackknife_spread(_left_out(rows[name], paired.chunk))
        found[name] = Distance(
            mean, max(mean + below, 0.0), mean + above, -unit[name] * float(chance.null.mean()), judged.p_value,
            ASSUMES[name], judged.p_beyond_place, judged.not_judged, len(chance.null),
        )  # fmt: skip
    return found, 1 - float(rows["logits"].sum()) / square


def _rows(ours: Float64[ndarray, "m k"], theirs: Float64[ndarray, "m k"]) -> dict[str, Float64[ndarray, " m"]]:
    """Each input's distances, from centred logits."""
    log_p = ours - logsumexp(ours, axis=1, keepdims=True)
    log_q = theirs - logsumexp(theirs, axis=1, keepdims=True)
    p, q = np.exp(log_p), np.exp(log_q)
    log_m = np.logaddexp(log_p, log_q) - np.log(2)
    js = (np.sum(p * (log_p - log_m), axis=1) + np.sum(q * (log_q - log_m), axis=1)) / 2
    return {
        "KL": np.maximum(np.sum(p * (log_p - log_q), axis=1), 0),
        "KL back": np.maximum(np.sum(q * (log_q - log_p), axis=1), 0),
        "JS": np.maximum(js, 0),
        "logits": np.sum((ours - theirs) ** 2, axis=1),
    }


def _left_out(values: Float64[ndarray, " n"], chunk: Int64[ndarray, " n"]) -> Float64[ndarray, " g"]:
    number = np.unique(chunk, return_inverse=True)[1]
    sums, counts = np.bincount(number, values), np.bincount(number)
    return (values.sum() - sums) / (len(values) - counts)
