"""What was found of one factor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.audit.curve import Point
from unmix.audit.probe import Probe
from unmix.measures.ladder import COMPLETE
from unmix.measures.score import TELLING, Refusal, Score

RISING = 0.02


class State(Enum):
    """How much of a factor there is."""

    RECOVERED = "recovered"
    IN_PART = "in part"
    NONLINEAR = "not linearly"
    WEAK = "hardly"
    ABSENT = "not found"
    REFUSED = "refused"


@dataclass(frozen=True, eq=False)
class Panel:
    """Held-out rows of a factor: true and recovered values, or how often a class is named as which."""

    true: Float64[ndarray, ...]
    recovered: Float64[ndarray, ...]
    confusion: Float64[ndarray, "c c"] | None = None


@dataclass(frozen=True, eq=False)
class Finding:
    """One factor: how well a linear map and a nonlinear probe find it on held-out rows.

    Attributes
    ----------
    kind : in words, with whether it was stated or inferred.
    levels : its classes, if it has any.
    rows : on which it is known.
    score : R² or balanced accuracy of the linear map, with interval, null and p.
    probe : gradient boosting, unless it was not asked for or was refused.
    fifths : gradient boosting of which fifth of its values the factor is in, where neither of the two recovers a number
        and boosting finds no more of it than the linear map.
    curve : the linear score against the rows it was fitted on.
    """

    name: str
    kind: str
    levels: tuple[str, ...]
    rows: int
    score: Score | Refusal
    probe: Probe | None
    fifths: Probe | None
    curve: tuple[Point, ...]
    panel: Panel
    notes: tuple[str, ...]

    @property
    def measure(self) -> str:
        return "balanced accuracy" if self.levels else "R²"

    def strength(self, score: float) -> float:
        """A score with chance at 0 and the most there is at 1: of classes (accuracy − 1/c)/(1 − 1/c)."""
        chance = 1 / len(self.levels) if self.levels else 0.0
        return (score - chance) / (1 - chance)

    @property
    def state(self) -> State:
        """By strength: 0.95 and more is recovered, 0.1 and more above chance in part; else what the probes say.

        What is above chance, but below 0.1, is hardly there. Where chance cannot be judged, strength alone counts.
        """
        if isinstance(self.score, Refusal):
            return State.REFUSED
        linear = self.strength(self.score.value)
        if self.score.can_tell and linear >= COMPLETE:
            return State.RECOVERED
        if self.score.can_tell and linear >= TELLING and self.score.low > self.score.null:
            return State.IN_PART
        if self.nonlinear is not None:
            return State.NONLINEAR
        return State.WEAK if self.score.above_chance and linear > 0 else State.ABSENT

    @property
    def nonlinear(self) -> Probe | None:
        """The probe, of the factor itself or else of its fifths, that is above chance, better than linear, and 0.1."""
        ones = (p for p in (self.probe, self.fifths) if p is not None)
        return next((p for p in ones if p.adds and p.strength(p.boosted) >= TELLING), None)

    @property
    def informativeness(self) -> float:
        """The strength of what predicts best, on the probe's rows; 0 of what is not above chance.

        That is the better of boosting and the linear map; of the fifths, if only they show the factor.
        """
        return max(self._strengths, default=0.0)

    @property
    def _strengths(self) -> list[float]:
        """Of the probe, and of the fifths."""
        probe, found = self.probe, []
        if probe is not None:
            linear = isinstance(self.score, Score) and self.score.above_chance
            there = probe.above_chance if probe.better == "boosted" else linear
            found.append(max(probe.strength(max(probe.boosted, probe.linear)), 0.0) * there)
        if self.fifths is not None:
            found.append(max(self.fifths.strength(self.fifths.boosted), 0.0) * self.fifths.adds)
        return found

    @property
    def importance(self) -> Float64[ndarray, " k"] | None:
        """The strength of what predicts best, shared among outputs by what is lost when each is permuted.

        So factors count by how well they are found, whatever their measure and whichever predicts best. Zeros where
        there is little to be important for.
        """
        if self.probe is None:
            return None
        of_fifths = self.fifths is not None and self._strengths[1] > self._strengths[0]
        lost = self.fifths.importance if of_fifths and self.fifths is not None else self.probe.importance
        whole, found = lost.sum(), self.informativeness
        return lost * (found / whole) if found >= TELLING and whole > 0 else np.zeros_like(lost)

    @property
    def rising(self) -> bool:
        """Whether the last doubling of the rows, or nearly that, has gained more than 0.02 and than the error allows.

        Only of what is there: held-out R² of noise rises towards 0.
        """
        if len(self.curve) < 2 or self.state not in (State.IN_PART, State.WEAK):
            return False
        before, last = self.curve[-2:]
        chance = 1 / len(self.levels) if self.levels else 0.0
        gain = last.score - max(before.score, chance)
        return gain > max(RISING, 2 * float(np.hypot(before.error, last.error)))

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "classes": list(self.levels),
            "rows": self.rows,
            "measure": self.measure,
            "state": self.state.value,
            "linear": self.score.as_dict(),
            "probe": self.probe.as_dict() if self.probe else None,
            "fifths": self.fifths.as_dict() if self.fifths else None,
            "curve": [p._asdict() for p in self.curve],
            "notes": list(self.notes),
        }
