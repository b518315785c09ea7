"""Pairs of tables that share nothing, in the ways that rows come: by themselves, in groups, in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from calibration.laws import (
    COLUMNS,
    Autoregressive,
    Discrete,
    Gaussian,
    Law,
    RankDeficient,
    Rising,
    Seasonal,
    StudentT,
    Table,
    Trending,
    Walk,
)
from calibration.streams import stream
from unmix.measures.paired import Paired, pair

VALID, PLACE, REFUSED, WARNED = "valid", "place", "refused", "warned"
GROUPS, TIME = "groups", "time"


@dataclass(frozen=True)
class Design:
    """Two tables drawn independently of each other, and what the measures are told of their rows.

    Attributes
    ----------
    x, y : the laws of the two tables; with groups, of the rows of one group, which also has a mean of its own.
    sizes : of the groups; one number is a table without groups.
    told : "groups", "time" or nothing.
    expects : "valid", if p has to be right; "place", if the tables share the place in the group, so that p of any
        relation has to be small and p beyond the place right; "refused", if no p may be given; "warned", if p is known
        to be wrong without the option, of which a note has to warn.
    """

    name: str
    x: Law
    y: Law
    sizes: tuple[int, ...]
    told: str = ""
    expects: str = VALID

    def paired(self, repetition: int) -> Paired:
        """What `compare` and `audit` make of the two tables."""
        tables = (self._drawn(law, stream(self.name, repetition, side)) for side, law in enumerate((self.x, self.y)))
        groups = member(self.sizes) if self.told == GROUPS else None
        return pair(*tables, groups=groups, time=self.told == TIME, seed=repetition)

    def _drawn(self, law: Law, rng: np.random.Generator) -> Table:
        if len(self.sizes) == 1:
            return law.draw(rng, self.sizes[0])
        return np.vstack([rng.normal(size=COLUMNS) + law.draw(rng, size) for size in self.sizes])


def member(sizes: tuple[int, ...]) -> Int64[ndarray, " n"]:
    """The group of each row.

    Examples
    --------
    >>> member((2, 1)).tolist()
    [0, 0, 1]
    """
    return np.repeat(np.arange(len(sizes)), sizes)


def alike(name: str, law: Law, sizes: tuple[int, ...], told: str = "", expects: str = VALID) -> Design:
    """Both tables by the same law."""
    return Design(name, law, law, sizes, told, expects)


ROWS, SERIES = (400,), (500,)
EQUAL, UNEQUAL, SUBJECTS = (10,) * 40, tuple(range(5, 16)) * 4, (20,) * 20

DESIGNS: tuple[Design, ...] = (
    alike("Gaussian", Gaussian(), ROWS),
    alike("heavy tails (t, 3 df)", StudentT(3), ROWS),
    alike("discrete (−1, 0, 1)", Discrete(), ROWS),
    alike("6 columns of rank 3", RankDeficient(), ROWS),
    alike("40 groups of 10", Gaussian(), EQUAL, GROUPS),
    alike("44 groups of 5 to 15", Gaussian(), UNEQUAL, GROUPS),
    alike("40 groups of 10, AR(.9) inside", Autoregressive(0.9), EQUAL, GROUPS),
    alike("40 groups of 10, a trend of its own in each", Trending(2.0), EQUAL, GROUPS),
    alike("20 subjects, the same 20 conditions in order", Rising(), SUBJECTS, GROUPS, PLACE),
    alike("AR(.5)", Autoregressive(0.5), SERIES, TIME),
    alike("AR(.9)", Autoregressive(0.9), SERIES, TIME),
    alike("seasonal", Seasonal(), SERIES, TIME),
    Design("one trends, one is AR(.5)", Trending(3.0), Autoregressive(0.5), SERIES, TIME),
    Design("one walks, one is AR(.9)", Walk(), Autoregressive(0.9), SERIES, TIME),
    alike("both trend", Trending(3.0), SERIES, TIME, REFUSED),
    alike("both walk", Walk(), SERIES, TIME, REFUSED),
    alike("40 groups of 10, not told", Gaussian(), EQUAL, expects=WARNED),
    alike("40 groups of 10 with trends, not told", Trending(2.0), EQUAL, expects=WARNED),
    alike("AR(.9), not told", Autoregressive(0.9), SERIES, expects=WARNED),
    alike("both trend, not told", Trending(3.0), SERIES, expects=WARNED),
    alike("both walk, not told", Walk(), SERIES, expects=WARNED),
)
