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
    curve : the linear score against the rows it was fitted on.
    """

    name: str
    kind: str
    levels: tuple[str, ...]
    rows: int
    score: Score | Refusal
    probe: Probe | None
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
        """By strength: 0.95 and more is recovered, 0.1 and more above chance in part; else what the probe says.

        What is above chance, but below 0.1, is hardly there. Where chance cannot be judged, strength alone counts.
        """
        if isinstance(self.score, Refusal):
            return State.REFUSED
        linear = self.strength(self.score.value)
        if self.score.can_tell and linear >= COMPLETE:
            return State.RECOVERED
        if self.score.can_tell and linear >= TELLING and self.score.low > self.score.null:
            return State.IN_PART
        if self.probe is not None and self.probe.adds and self.strength(self.probe.boosted) >= TELLING:
            return State.NONLINEAR
        return State.WEAK if self.score.above_chance and linear > 0 else State.ABSENT

    @property
    def importance(self) -> Float64[ndarray, " k"] | None:
        """The probe's importances; zeros where it finds nothing, so that there is nothing to be important for."""
        if self.probe is None:
            return None
        return self.probe.importance * (self.strength(self.probe.boosted) >= TELLING)

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
            "curve": [p._asdict() for p in self.curve],
            "notes": list(self.notes),
        }
