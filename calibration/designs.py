"""Pairs of tables that share nothing, in the ways that rows come: independent, in groups, in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

Table = Float64[ndarray, "n k"]
Draw = Callable[[np.random.Generator], Table]
COLUMNS = 3


@dataclass(frozen=True)
class Design:
    """Two tables drawn independently of each other, and what the measures are told of their rows.

    Attributes
    ----------
    groups : the group of each row, if the measures are told.
    time : whether they are told that rows are in time.
    expects : "valid", if p has to be right; "refused", if no p may be given; "place", if what the tables share is the
        place in the group, so that p of any relation has to be small and p beyond the place right; "warned", if p is
        known to be wrong without the option.
    """

    name: str
    x: Draw
    y: Draw
    groups: tuple[int, ...] | None = None
    time: bool = False
    expects: str = "valid"

    @property
    def asked(self) -> dict[str, Any]:
        """The options of `unmix.measures.paired.pair`."""
        groups = None if self.groups is None else np.repeat(np.arange(len(self.groups)), self.groups)
        return {"groups": groups, "time": self.time}


def independent(n: int, law: Callable[[np.random.Generator, tuple[int, int]], Any]) -> Draw:
    return lambda rng: np.asarray(law(rng, (n, COLUMNS)), np.float64)


def rank_deficient(n: int) -> Draw:
    """Six columns that are combinations of three."""
    return lambda rng: rng.normal(size=(n, COLUMNS)) @ rng.normal(size=(COLUMNS, 2 * COLUMNS))


def grouped(sizes: tuple[int, ...], inside: Callable[[np.random.Generator, int], Table]) -> Draw:
    """Each group with a mean of its own, and rows drawn by `inside`."""
    return lambda rng: np.vstack([rng.normal(size=COLUMNS) + inside(rng, size) for size in sizes])


def white(rng: np.random.Generator, n: int) -> Table:
    return rng.normal(size=(n, COLUMNS))


def autoregressive(memory: float) -> Callable[[np.random.Generator, int], Table]:
    """A stationary AR(1) series of unit variance."""

    def draw(rng: np.random.Generator, n: int) -> Table:
        from scipy.signal import lfilter

        noise = rng.normal(size=(n, COLUMNS)) * np.sqrt(1 - memory**2)
        noise[0] /= np.sqrt(1 - memory**2)
        return np.asarray(lfilter([1.0], [1.0, -memory], noise, axis=0))

    return draw


def seasonal(rng: np.random.Generator, n: int) -> Table:
    """AR(.5) on top of a wave whose period and phase are the table's own."""
    angle = 2 * np.pi * (np.arange(n) / rng.uniform(20, 60) + rng.uniform())
    return autoregressive(0.5)(rng, n) + np.sin(angle)[:, None]


def trending(slope: float) -> Callable[[np.random.Generator, int], Table]:
    """AR(.5) with a linear trend of random slopes, `slope` standard deviations over the table on average."""
    return lambda rng, n: (
        autoregressive(0.5)(rng, n) + slope * rng.choice([-1, 1], COLUMNS) * np.linspace(-0.5, 0.5, n)[:, None]
    )


def walk(rng: np.random.Generator, n: int) -> Table:
    return np.cumsum(rng.normal(size=(n, COLUMNS)), axis=0)


def profile(size: int) -> Callable[[np.random.Generator, int], Table]:
    """The same rise over the places in every group, and noise."""
    return lambda rng, n: rng.normal(size=(n, COLUMNS)) + np.linspace(-2, 2, size)[:n, None]


def series(n: int, law: Callable[[np.random.Generator, int], Table]) -> Draw:
    return lambda rng: law(rng, n)


def pairs(name: str, draw: Draw, **told: Any) -> Design:
    """Both tables by the same law."""
    return Design(name, draw, draw, **told)


N, SERIES = 400, 1000
EQUAL, UNEQUAL, SUBJECTS = (10,) * 40, tuple(range(5, 16)) * 4, (20,) * 20

DESIGNS: tuple[Design, ...] = (
    pairs("independent, Gaussian", independent(N, lambda rng, shape: rng.normal(size=shape))),
    pairs("independent, heavy tails (t, 3 df)", independent(N, lambda rng, shape: rng.standard_t(3, size=shape))),
    pairs("independent, discrete (0, 1, 2)", independent(N, lambda rng, shape: rng.integers(3, size=shape))),
    pairs("independent, six columns of rank three", rank_deficient(N)),
    pairs("40 groups of 10 with means of their own", grouped(EQUAL, white), groups=EQUAL),
    pairs("44 groups of 5 to 15 with means of their own", grouped(UNEQUAL, white), groups=UNEQUAL),
    pairs("40 groups of 10, AR(.9) inside", grouped(EQUAL, autoregressive(0.9)), groups=EQUAL),
    pairs("40 groups of 10, a trend of its own in each", grouped(EQUAL, trending(2.0)), groups=EQUAL),
    pairs("20 subjects, the same 20 conditions in order", grouped(SUBJECTS, profile(20)), groups=SUBJECTS,
          expects="place"),
    pairs("AR(.5), told time", series(SERIES, autoregressive(0.5)), time=True),
    pairs("AR(.9), told time", series(SERIES, autoregressive(0.9)), time=True),
    pairs("seasonal, told time", series(SERIES, seasonal), time=True),
    pairs("both trend, told time", series(SERIES, trending(3.0)), time=True, expects="refused"),
    Design("one trends, told time", series(SERIES, trending(3.0)), series(SERIES, autoregressive(0.5)), time=True),
    pairs("both walk, told time", series(SERIES, walk), time=True, expects="refused"),
    Design("one walks, told time", series(SERIES, walk), series(SERIES, autoregressive(0.9)), time=True),
    pairs("AR(.9), not told", series(SERIES, autoregressive(0.9)), expects="warned"),
)  # fmt: skip
