"""A score and what it must come with: an interval, a null, a p-value, the rows it was taken on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.special import stdtrit

from unmix.measures.digits import equals, number, shown_p
from unmix.measures.measure import Measure

SIGNIFICANT = 0.01
TELLING = 0.1  # the score from which something is there in part
TWO_P = "two p: of any relation / of one beyond the place in the group"
FIELDS = (
    "value", "low", "high", "null", "p_value", "p_beyond_place", "calibrated", "rows", "null_rows", "not_judged",
    "permutations", "groups",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Score:
    """The score of one measure.

    Attributes
    ----------
    value : the score, held out where something is fitted (the mean over folds).
    low, high : a 95 % interval, from chunks of rows left out or drawn anew. Of a fitted score it is an interval of what
        the fitted maps score on new rows of the same kind, not of what the best map of the population would.
    null : the mean score when rows are paired at random.
    p_value : (1 + #{null ≥ score})/(1 + permutations), score and null taken on the same `null_rows` rows; None where
        chance cannot be judged.
    p_beyond_place : where both tables depend on the place in the group, p of what they share beyond it: groups are
        moved, but not rotated. Else None.
    not_judged : why chance cannot be judged; empty where it can.
    calibrated : (score − null)/(1 − null) on those rows: 0 is chance, 1 is the most there is.
    rows, null_rows : how many rows the score and the null were taken on.
    permutations : how often rows were paired anew for the null.
    groups : how many groups the rows are in; None of rows that are by themselves.
    profile : the parts whose mean is the score (R² of each target, ρ of each canonical direction).
    """

    measure: Measure
    value: float
    low: float
    high: float
    null: float
    p_value: float | None
    calibrated: float
    rows: int
    null_rows: int
    profile: Float64[ndarray, " p"] = field(repr=False)
    p_beyond_place: float | None = None
    not_judged: str = ""
    permutations: int = 0
    groups: int | None = None

    @property
    def above_chance(self) -> bool:
        return is_above_chance(self.value, self.null, self.p_value)

    @property
    def caveat(self) -> str:
        """What has to be said next to the score: that chance is not judged, or that it may be the place; or nothing."""
        if self.p_value is None:
            return f"chance not judged: {self.not_judged}"
        beyond = self.p_beyond_place is None or self.p_beyond_place <= SIGNIFICANT
        return "" if beyond or not self.above_chance else "cannot be told apart from the place in the group"

    @property
    def can_tell(self) -> bool:
        """Whether more may be said: the score is above chance or, where chance cannot be judged, not small."""
        return self.above_chance or (self.p_value is None and not self.hardly)

    @property
    def hardly(self) -> bool:
        """Whether there is little to speak of: the score is below 0.1, or its interval holds chance."""
        return self.value < TELLING or self.low <= self.null

    @property
    def p_shown(self) -> str:
        """p and, where there is one, p beyond the place in the group; a dash where there is none."""
        both = (self.p_value, self.p_beyond_place)
        return " / ".join(shown_p(p, self.permutations) for p in both if p is not None) or "–"

    @property
    def null_shown(self) -> str:
        """Chance in three digits; a dash where it is not judged."""
        return "–" if self.p_value is None else number(self.null)

    @property
    def calibrated_shown(self) -> str:
        return "–" if self.p_value is None else number(self.calibrated)

    @property
    def interval_shown(self) -> str:
        return f"{number(self.low)} … {number(self.high)}"

    @property
    def rows_shown(self) -> str:
        """Such as "1,000 rows in 40 groups"."""
        return f"{self.rows:,} rows" + (f" in {self.groups:,} groups" if self.groups else "")

    def __str__(self) -> str:
        """The score, its interval, chance and p; with the rows it can be quoted."""
        chance = next_to_chance(
            number(self.null), self.p_value, self.p_beyond_place, self.permutations, self.not_judged
        )
        return f"{number(self.value)} [{number(self.low)}, {number(self.high)}], {chance}"

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {name: getattr(self, name) for name in FIELDS} | {"profile": self.profile.tolist()}


@dataclass(frozen=True)
class Refusal:
    """A measure that would mean nothing here, and why."""

    measure: Measure
    reason: str

    def __str__(self) -> str:
        return f"refused: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        return {"refused": self.reason}


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A held-out score, its parts, and how far its 95 % interval reaches below and above it."""

    value: float
    profile: Float64[ndarray, " p"]
    spread: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Chance:
    """A score on `rows` rows, and the scores when these are paired at random.

    Attributes
    ----------
    beyond_place : the scores when groups are moved but not rotated; None where the place in the group is not shared.
    not_judged : why the null cannot say what chance gives; empty where it can.
    """

    observed: float
    null: Float64[ndarray, " b"]
    rows: int
    beyond_place: Float64[ndarray, " b"] | None = None
    not_judged: str = ""

    @property
    def p_value(self) -> float | None:
        return None if self.not_judged else self._reached(self.null)

    @property
    def p_beyond_place(self) -> float | None:
        return None if self.not_judged or self.beyond_place is None else self._reached(self.beyond_place)

    def exceeded_by(self, score: float) -> bool:
        """Whether a score of all rows is above chance."""
        return is_above_chance(score, float(self.null.mean()), self.p_value)

    def _reached(self, null: Float64[ndarray, " b"]) -> float:
        reached = null >= self.observed - 1e-12 * max(1.0, abs(self.observed))  # a tie up to rounding is a tie
        return float((1 + reached.sum()) / (1 + len(null)))


def is_above_chance(score: float, null: float, p_value: float | None) -> bool:
    """Whether p is small and the score is above the chance next to it, which may be of fewer rows."""
    return p_value is not None and p_value <= SIGNIFICANT and score > null


def next_to_chance(
    null: str, p_value: float | None, p_beyond_place: float | None, permutations: int, not_judged: str
) -> str:
    """What chance gives and p, behind a number; or why there is none.

    Examples
    --------
    >>> next_to_chance("0.002", 0.005, None, 199, "")
    'chance 0.002, p < 1/200'
    """
    if p_value is None:
        return f"chance not judged: {not_judged}"
    said = f"chance {null}, p {equals(shown_p(p_value, permutations))}"
    if p_beyond_place is not None:
        said += f", beyond the place in the group p {equals(shown_p(p_beyond_place, permutations))}"
    return said


def scored(measure: Measure, found: HeldOut, chance: Chance, rows: int, groups: int | None = None) -> Score:
    """Put a score together; the interval is value + spread, and never beyond 1."""
    mean, value = float(chance.null.mean()), found.value
    calibrated = float((chance.observed - mean) / (1 - mean)) if mean < 1 else 0.0
    low, high = value + found.spread[0], min(value + found.spread[1], max(1.0, value))
    return Score(
        measure, value, low, high, mean, chance.p_value, calibrated, rows, chance.rows, found.profile,
        chance.p_beyond_place, chance.not_judged, len(chance.null), groups,
    )  # fmt: skip


def bootstrap_spread(resampled: Float64[ndarray, " b"], drawn_from: float) -> tuple[float, float]:
    """The 95 % quantiles about the mean of the resamples, each a draw of m from m chunks a fold.

    Only their spread is used: a resample has fewer different rows, so a fitted score is a little lower on it. The
    variance of a draw with replacement is (m − 1)/m of what it should be.
    """
    low, high = np.quantile(resampled - resampled.mean(), [0.025, 0.975]) * np.sqrt(drawn_from / (drawn_from - 1))
    return float(min(low, 0)), float(max(high, 0))


def jackknife_spread(left_out: Float64[ndarray, " g"]) -> tuple[float, float]:
    """A 95 % interval of Student's t from the scores without each chunk in turn.

    Where nothing is fitted but rows are compared with rows, copies of rows would distort a bootstrap.
    """
    g = len(left_out)
    error = np.sqrt((g - 1) / g * ((left_out - left_out.mean()) ** 2).sum())
    reach = float(stdtrit(g - 1, 0.975) * error)
    return -reach, reach
