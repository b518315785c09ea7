"""Intervals: how often the 95 % interval of a score holds what it is an interval of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from calibration.designs import member
from calibration.laws import COLUMNS, Autoregressive, Gaussian, Law, StudentT, Table
from calibration.measures import tried
from calibration.streams import stream
from unmix.measures import ICA, MCC, LinearMeasure, RowMeasure
from unmix.measures.measure import Measure
from unmix.measures.paired import Paired, pair
from unmix.measures.resample import resample
from unmix.measures.sample import Sample
from unmix.measures.score import Chance, HeldOut, jackknife_spread, scored
from unmix.moments import Moments

LEVEL, POPULATION, BOOTSTRAPS, SOME = 0.95, 200_000, 200, 20_000
MIXING = np.array([[1.0, 0.4, 0.0], [-0.3, 1.0, 0.2], [0.1, 0.0, 0.8]])
UNASKED = Chance(0.0, np.zeros(1), 0)  # an interval does not depend on the null


@dataclass(frozen=True)
class Related:
    """Latents y and noisy mixtures x of them; latents and noise are drawn by one law.

    Attributes
    ----------
    group : how many rows a group has; half of the variance is then the groups' own. 0 if there are none.
    noise : its standard deviation, next to latents of about one.
    time : whether the measures are told that rows are in time.
    """

    name: str
    law: Law
    rows: int
    noise: float = 1.0
    group: int = 0
    time: bool = False

    def draw(self, rng: np.random.Generator, rows: int) -> tuple[Table, Table]:
        y, noise = self._drawn(rng, rows), self._drawn(rng, rows)
        return y @ MIXING + self.noise * noise, y

    def paired(self, repetition: int) -> Paired:
        groups = member((self.group,) * (self.rows // self.group)) if self.group else None
        tables = self.draw(stream(self.name, repetition, 0), self.rows)
        return pair(*tables, groups=groups, time=self.time, seed=repetition)

    def _drawn(self, rng: np.random.Generator, rows: int) -> Table:
        inside = self.law.draw(rng, rows)
        if not self.group:
            return inside
        return (inside + np.repeat(rng.normal(size=(rows // self.group, COLUMNS)), self.group, axis=0)) / np.sqrt(2)


RELATED: tuple[Related, ...] = (
    Related("200 rows, Gaussian", Gaussian(), 200),
    Related("500 rows, little signal", Gaussian(), 500, noise=5.0),
    Related("500 rows, heavy tails (t, 5 df)", StudentT(5), 500),
    Related("40 groups of 10", Gaussian(), 400, group=10),
    Related("20 groups of 25", Gaussian(), 500, group=25),
    Related("500 rows of AR(.9), told time", Autoregressive(0.9), 500, time=True),
)


@dataclass(frozen=True)
class Coverage:
    """Of so many repetitions, how often the interval held the truth."""

    design: str
    measure: str
    repetitions: int
    held: int


def once(design: Related, repetition: int, measures: Sequence[Measure] = ()) -> dict[str, Any]:
    """Of each measure on one pair of tables the score, the ends of its interval, and the truth if it is of a fit."""
    paired = design.paired(repetition)
    measures = measures or tried(repetition)
    linear = [m for m in measures if isinstance(m, LinearMeasure)]
    found: dict[Measure, HeldOut] = dict(zip(linear, resample(paired, linear, BOOTSTRAPS), strict=True))
    rows = paired.sample.exchangeable()
    for m in measures:
        if isinstance(m, RowMeasure):
            a = m.assess(rows, 1)
            found[m] = HeldOut(a.score, np.array([a.score]), jackknife_spread(a.left_out))
    scores = {m: scored(m, held_out, UNASKED, paired.rows) for m, held_out in found.items()}
    return {m.name: [s.value, s.low, s.high, _truth(m, paired, design)] for m, s in scores.items()}


def _truth(measure: Measure, paired: Paired, design: Related) -> float | None:
    """What the maps that were fitted score on the population, on average; None where nothing is fitted."""
    if isinstance(measure, ICA):
        return _truth_of_components(paired.sample, design)
    if not isinstance(measure, LinearMeasure) or not measure.fitted:
        return None
    return float(np.mean([measure.score(train, _moments(design)) for train, _ in paired.folds.splits()]))


def _truth_of_components(sample: Sample, design: Related) -> float:
    """Components and their matching as found in each train part, on rows of the population, which are in no fold."""
    (x, y), n, any_chunk = _population(design), len(sample.x), np.zeros(SOME, np.int64)
    new = np.arange(n + SOME) >= n
    more = replace(
        sample,
        x=np.vstack([sample.x, x[:SOME]]),
        y=np.vstack([sample.y, y[:SOME]]),
        chunk=np.r_[sample.chunk, any_chunk],
        gap=new | np.r_[sample.fold < 0, any_chunk < 0],
    )
    scores = []
    for fold, s in enumerate(ICA().components(more)):
        train = (s.fold >= 0) & (s.fold != fold)
        scores.append(MCC().score(Moments.of(s.x[train], s.y[train]), Moments.of(s.x[new], s.y[new])))
    return float(np.mean(scores))


@lru_cache(maxsize=1)
def _population(design: Related) -> tuple[Table, Table]:
    return design.draw(stream(design.name, 0, 1), POPULATION)


@lru_cache(maxsize=1)
def _moments(design: Related) -> Moments:
    return Moments.of(*_population(design))


def tallied(design: Related, found: Sequence[dict[str, Any]]) -> list[Coverage]:
    """The coverage of each measure, from what `once` gave; of a score without a fit the truth is its mean over all."""
    names = list(dict.fromkeys(name for one in found for name in one))
    return [_coverage(design, name, [one[name] for one in found if name in one]) for name in names]


def _coverage(design: Related, name: str, found: Sequence[Sequence[Any]]) -> Coverage:
    expected = float(np.mean([value for value, *_ in found]))
    held = sum(low <= (expected if truth is None else truth) <= high for _, low, high, truth in found)
    return Coverage(design.name, name, len(found), held)
