"""Intervals: how often the 95 % interval of a score holds what it is an interval of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from calibration.designs import COLUMNS, EQUAL, autoregressive
from unmix.indeterminacy import GeneralisedPermutation, Orthogonal
from unmix.measures import CCA, CKA, MCC, PWCCA, R2, RSA, DistanceCorrelation, Neighbours, Procrustes, UpTo
from unmix.measures.measure import LinearMeasure, Measure, RowMeasure
from unmix.measures.paired import Paired, pair
from unmix.measures.resample import resample
from unmix.measures.score import jackknife_spread
from unmix.moments import Moments

MEASURES: tuple[Measure, ...] = (
    R2(), UpTo(Orthogonal(offset=True)), UpTo(GeneralisedPermutation(offset=True)), CCA(), PWCCA(), Procrustes(), CKA(),
    MCC(), RSA(), DistanceCorrelation(), Neighbours(),
)  # fmt: skip
LEVEL, POPULATION, DRAWS = 0.95, 200_000, 200
Noise = Callable[[np.random.Generator, int], Float64[ndarray, "n k"]]
MIXING = np.array([[1.0, 0.4, 0.0], [-0.3, 1.0, 0.2], [0.1, 0.0, 0.8]])


@dataclass(frozen=True)
class Related:
    """Latents y and noisy mixtures x of them, all drawn by one law."""

    name: str
    rows: int
    law: Noise
    noise: float
    group: int = 0
    time: bool = False

    def draw(self, rng: np.random.Generator, rows: int) -> tuple[Float64[ndarray, "n k"], Float64[ndarray, "n d"]]:
        y, noise = self._drawn(rng, rows), self._drawn(rng, rows)
        return y @ MIXING + self.noise * noise, y

    def _drawn(self, rng: np.random.Generator, rows: int) -> Float64[ndarray, "n k"]:
        inside = self.law(rng, rows)
        if not self.group:
            return inside
        return (inside + np.repeat(rng.normal(size=(-(-rows // self.group), COLUMNS)), self.group, 0)[:rows]) / np.sqrt(
            2
        )

    def paired(self, seed: int) -> Paired:
        x, y = self.draw(np.random.default_rng([seed, 0]), self.rows)
        groups = np.arange(self.rows) // self.group if self.group else None
        return pair(x, y, groups=groups, time=self.time, seed=seed)


def gaussian(rng: np.random.Generator, n: int) -> Float64[ndarray, "n k"]:
    return rng.normal(size=(n, COLUMNS))


def heavy(rng: np.random.Generator, n: int) -> Float64[ndarray, "n k"]:
    return rng.standard_t(5, size=(n, COLUMNS))


def discrete(rng: np.random.Generator, n: int) -> Float64[ndarray, "n k"]:
    return rng.integers(-1, 2, size=(n, COLUMNS)).astype(np.float64)


RELATED: tuple[Related, ...] = (
    Related("200 rows, Gaussian", 200, gaussian, 1.0),
    Related("1,000 rows, Gaussian", 1000, gaussian, 1.0),
    Related("1,000 rows, little signal", 1000, gaussian, 5.0),
    Related("1,000 rows, heavy tails (t, 5 df)", 1000, heavy, 1.0),
    Related("1,000 rows, discrete", 1000, discrete, 1.0),
    Related("40 groups of 10", sum(EQUAL), gaussian, 1.0, group=10),
    Related("20 groups of 25", 500, gaussian, 1.0, group=25),
    Related("1,000 rows of AR(.9), told time", 1000, autoregressive(0.9), 1.0, time=True),
)


@dataclass(frozen=True)
class Coverage:
    """How often the interval held the truth, and how wide it was on average."""

    design: str
    measure: str
    held: float
    width: float
    repetitions: int

    @property
    def error(self) -> float:
        return float(np.sqrt(LEVEL * (1 - LEVEL) / self.repetitions))


def coverage(
    design: Related, repetitions: int, measures: Sequence[Measure] = MEASURES, seed: int = 0
) -> list[Coverage]:
    """The coverage of each measure on the same tables.

    The truth of a fitted score is the mean over the fitted maps of their score on the whole population, of which
    200,000 rows stand in; of a score without a fit, its mean over 200 other tables as large.
    """
    fitted = [m for m in measures if isinstance(m, LinearMeasure) and m.fitted]
    population = Moments.of(*design.draw(np.random.default_rng([seed, 1]), POPULATION))
    expected = _expected(design, [m for m in measures if m not in fitted], seed)
    held: dict[Measure, list[tuple[bool, float]]] = {m: [] for m in measures}
    for repetition in range(repetitions):
        paired = design.paired(seed + 1 + repetition)
        trains = [train for train, _ in paired.folds.splits()]
        linear = [m for m in measures if isinstance(m, LinearMeasure)]
        for m, found in zip(linear, resample(paired, linear, DRAWS), strict=True):
            truth = float(np.mean([m.score(train, population) for train in trains])) if m in fitted else expected[m]
            held[m].append(_holds(found.value, found.spread, truth))
        rows = paired.sample.exchangeable()
        for m in measures:
            if isinstance(m, RowMeasure):
                a = m.assess(rows, 1)
                held[m].append(_holds(a.score, jackknife_spread(a.left_out), expected[m]))
    return [
        Coverage(design.name, m.name, *map(float, np.mean(some, axis=0)), repetitions=len(some))
        for m, some in held.items()
    ]


def _holds(value: float, spread: tuple[float, float], truth: float) -> tuple[bool, float]:
    low, high = value + spread[0], min(value + spread[1], max(1.0, value))
    return low <= truth <= high, high - low


def _expected(design: Related, measures: Sequence[Measure], seed: int) -> dict[Measure, float]:
    found: dict[Measure, list[float]] = {m: [] for m in measures}
    for other in range(DRAWS if measures else 0):
        paired = design.paired(10**6 + seed + other)
        whole = paired.folds.chunks.pooled()
        for m in measures:
            score = m.score(whole, whole) if isinstance(m, LinearMeasure) else None
            found[m].append(m.score(paired.sample) if isinstance(m, RowMeasure) else score or 0.0)
    return {m: float(np.mean(values)) for m, values in found.items()}
