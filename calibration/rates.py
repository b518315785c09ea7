"""False positives: how often tables that share nothing are called related at the level of .05."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.designs import Design
from unmix.measures import CCA, CKA, MCC, R2, RSA, SVCCA, DistanceCorrelation, Neighbours, Procrustes
from unmix.measures.evaluate import chances
from unmix.measures.measure import LinearMeasure, Measure, RowMeasure
from unmix.measures.paired import pair
from unmix.measures.score import Chance

MEASURES: tuple[Measure, ...] = (
    R2(), CCA(), SVCCA(components=2), Procrustes(), CKA(), CKA(debiased=False), MCC(), RSA(), DistanceCorrelation(),
    Neighbours(),
)  # fmt: skip
LEVEL, PERMUTATIONS = 0.05, 39  # p is then 1/40, 2/40, …: at most .05 one time of twenty


@dataclass(frozen=True)
class Rate:
    """How often p was at most .05, and how often no p was given, of so many repetitions."""

    design: str
    measure: str
    expects: str
    positives: float
    beyond_place: float | None
    refused: float
    repetitions: int

    @property
    def error(self) -> float:
        """The standard error of a rate of .05, which is what it should be."""
        return float(np.sqrt(LEVEL * (1 - LEVEL) / self.repetitions))


def rates(design: Design, repetitions: int, measures: Sequence[Measure] = MEASURES, seed: int = 0) -> list[Rate]:
    """The rates of each measure on the same tables."""
    linear = [m for m in measures if isinstance(m, LinearMeasure)]
    found: dict[Measure, list[Chance]] = {m: [] for m in measures}
    for repetition in range(repetitions):
        streams = (np.random.default_rng([seed, repetition, side]) for side in (0, 1))
        x, y = (draw(rng) for draw, rng in zip((design.x, design.y), streams, strict=True))
        paired = pair(x, y, **design.asked, seed=repetition)
        for m, chance in zip(linear, chances(paired, linear, PERMUTATIONS), strict=True):
            found[m].append(chance)
        rows = paired.sample.exchangeable()
        for m in measures:
            if isinstance(m, RowMeasure):
                a = m.assess(rows, PERMUTATIONS)
                found[m].append(Chance(a.null_score, a.null, a.null_rows, a.beyond_place, rows.unjudged()))
    return [_rate(design, m, some) for m, some in found.items()]


def _rate(design: Design, measure: Measure, found: Sequence[Chance]) -> Rate:
    p = [c.p_value for c in found]
    beyond = [c.p_beyond_place for c in found if c.p_beyond_place is not None]
    return Rate(
        design.name,
        measure.name,
        design.expects,
        positives=float(np.mean([value is not None and value <= LEVEL for value in p])),
        beyond_place=float(np.mean([value <= LEVEL for value in beyond])) if len(beyond) > len(found) / 2 else None,
        refused=float(np.mean([value is None for value in p])),
        repetitions=len(found),
    )
