"""How the rows of one table come: by themselves, or one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.signal import lfilter

Table = Float64[ndarray, "n k"]
COLUMNS = 3


class Law(Protocol):
    """A frozen dataclass of plain values that draws tables."""

    def draw(self, rng: np.random.Generator, rows: int) -> Table: ...


@dataclass(frozen=True)
class Gaussian:
    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        return rng.normal(size=(rows, COLUMNS))


@dataclass(frozen=True)
class StudentT:
    freedom: float

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        return rng.standard_t(self.freedom, size=(rows, COLUMNS))


@dataclass(frozen=True)
class Discrete:
    """−1, 0 and 1, equally often."""

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        return rng.integers(-1, 2, size=(rows, COLUMNS)).astype(np.float64)


@dataclass(frozen=True)
class RankDeficient:
    """Six columns that are combinations of three."""

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        return rng.normal(size=(rows, COLUMNS)) @ rng.normal(size=(COLUMNS, 2 * COLUMNS))


@dataclass(frozen=True)
class Autoregressive:
    """A stationary AR(1) series of unit variance."""

    memory: float

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        news = rng.normal(size=(rows, COLUMNS))
        news[1:] *= np.sqrt(1 - self.memory**2)
        return np.asarray(lfilter([1.0], [1.0, -self.memory], news, axis=0))


@dataclass(frozen=True)
class Seasonal:
    """AR(.5) on top of a wave whose period, of 20 to 60 rows, and phase are the table's own."""

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        angle = 2 * np.pi * (np.arange(rows) / rng.uniform(20, 60) + rng.uniform())
        return Autoregressive(0.5).draw(rng, rows) + np.sin(angle)[:, None]


@dataclass(frozen=True)
class Trending:
    """AR(.5) with a linear trend, up or down, of so many standard deviations from the first row to the last."""

    rise: float

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        line = np.linspace(-0.5, 0.5, rows)[:, None]
        return Autoregressive(0.5).draw(rng, rows) + self.rise * rng.choice([-1, 1], COLUMNS) * line


@dataclass(frozen=True)
class Walk:
    """A random walk."""

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        return np.cumsum(rng.normal(size=(rows, COLUMNS)), axis=0)


@dataclass(frozen=True)
class Rising:
    """The same rise over the rows, whatever the group, and noise."""

    def draw(self, rng: np.random.Generator, rows: int) -> Table:
        return rng.normal(size=(rows, COLUMNS)) + np.linspace(-2, 2, rows)[:, None]
