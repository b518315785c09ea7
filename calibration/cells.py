"""Counts as shares with their standard error, and the band in which a right one lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from scipy.stats import binom

from calibration import coverage, rates
from calibration.coverage import Coverage
from calibration.designs import PLACE, REFUSED, VALID, WARNED
from calibration.rates import Rate

SURE = 0.999


@dataclass(frozen=True)
class Cell:
    """A share of `of` repetitions, in a row and a column of a table.

    Attributes
    ----------
    band : the counts between which a right one lies 999 times of 1,000; None of what has no right value.
    """

    row: str
    column: str
    count: int
    of: int
    band: tuple[int, int] | None = None
    expects: str = VALID
    told: str = ""

    @property
    def judged(self) -> bool:
        """Whether there is a right value."""
        return self.band is not None and self.of > 0

    @property
    def side(self) -> str:
        """An arrow up or down where the count is outside its band, else nothing."""
        if self.band is None or self.band[0] <= self.count <= self.band[1]:
            return ""
        return "↑" if self.count > self.band[1] else "↓"

    @property
    def error(self) -> float:
        """The standard error of the share (Agresti & Coull 1998), which is not 0 where none was counted.

        Examples
        --------
        >>> round(Cell("", "", 0, 96).error, 3)
        0.014
        """
        n = self.of + 4
        share = (self.count + 2) / n
        return sqrt(share * (1 - share) / n)

    @property
    def shown(self) -> str:
        """In percent, with the standard error.

        Examples
        --------
        >>> Cell("CCA ρ", "Gaussian", 21, 400).shown
        '5.2 ± 1.2'
        """
        return f"{100 * self.count / self.of:.1f} ± {100 * self.error:.1f}" if self.of else "–"

    @property
    def shown_in_table(self) -> str:
        return f"**{self.shown} {self.side}**" if self.side else self.shown

    @property
    def band_shown(self) -> str:
        low, high = self.band or (0, self.of)
        return f"{100 * low / self.of:.1f} to {100 * high / self.of:.1f}"


def band(times: int, share: float) -> tuple[int, int]:
    """The counts between which a binomial one lies 999 times of 1,000.

    Examples
    --------
    >>> band(400, 0.05)
    (7, 36)
    """
    low, high = binom.interval(SURE, times, share)
    return int(low), int(high)


def cells_of_rates(rows: Sequence[dict[str, Any]]) -> list[Cell]:
    """The cells of each design, and last what of it is said of all measures at once."""
    found = [Rate(**row) for row in rows]
    return [cell for rate in found for cell in _of_rate(rate)] + [
        cell for design in dict.fromkeys(rate.design for rate in found) for cell in _of_design(found, design)
    ]


def _of_rate(rate: Rate) -> Iterator[Cell]:
    """Of designs that are refused, p ≤ .05 must be seldom, given or not; of the others it is of those that have a p."""
    kind: Any = {"expects": rate.expects, "told": rate.told}
    right = band(rate.judged, rates.LEVEL)
    if rate.expects == PLACE:
        beyond = band(rate.beyond_judged, rates.LEVEL)
        yield Cell(rate.measure, "any relation", rate.positives, rate.judged, **kind)
        yield Cell(rate.measure, "beyond the place", rate.beyond_positives, rate.beyond_judged, beyond, **kind)
    elif rate.expects == REFUSED:
        most = band(rate.repetitions, rates.LEVEL)[1]
        yield Cell(rate.measure, rate.design, rate.positives, rate.repetitions, (0, most), **kind)
    else:
        known = None if rate.expects == WARNED else right
        yield Cell(rate.measure, rate.design, rate.positives, rate.judged, known, **kind)


def _of_design(found: Sequence[Rate], design: str) -> Iterator[Cell]:
    """How often no p was given, of rows that are told; and how often a note warned, of rows that are not."""
    longest = max((rate for rate in found if rate.design == design), key=lambda rate: rate.repetitions)
    kind: Any = {"expects": longest.expects, "told": longest.told}
    n = longest.repetitions
    if longest.expects != PLACE:
        what = (n - longest.judged, "no p is given") if longest.told else (longest.warned, "a note warns")
        yield Cell(what[1], design, what[0], n, **kind)


def cells_of_coverage(rows: Sequence[dict[str, Any]]) -> list[Cell]:
    """The cells of each design."""
    found = [Coverage(**row) for row in rows]
    return [Cell(c.measure, c.design, c.held, c.repetitions, band(c.repetitions, coverage.LEVEL)) for c in found]
