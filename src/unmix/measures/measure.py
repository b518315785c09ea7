"""What a measure is: a score of two representations, and what it cannot see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.measures.invariance import Invariance
from unmix.measures.sample import Columns, Sample
from unmix.moments import Moments, Split


@dataclass(frozen=True)
class Measure(ABC):
    """A score of two representations x and y of the same rows; 1 is the most it can be.

    Attributes
    ----------
    invariant_x, invariant_y : the changes of x and of y that leave the score as it is, and no others.
    assumes : what must be so for the score to mean what it is read as.
    reference : where it comes from.
    """

    assumes: ClassVar[str]
    reference: ClassVar[str]

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in a table; `x` and `y` stand for the two representations."""

    @property
    @abstractmethod
    def invariant_x(self) -> Invariance: ...

    @property
    def invariant_y(self) -> Invariance:
        """As for x, unless the measure says otherwise."""
        return self.invariant_x

    @property
    def mirrored(self) -> Measure | None:
        """The measure that scores (y, x) as this one scores (x, y): itself where the two sides are alike."""
        return self

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        """Why the score would mean nothing for tables of this shape, or None."""
        return None


class LinearMeasure(Measure):
    """A measure that follows from moments; `fitted` ones fit a map on the train part and score it on the test part."""

    fitted: ClassVar[bool] = True

    @property
    def jumps(self) -> bool:
        """Whether a few rows can change the score by a jump, because they change a matching.

        A jackknife is then too wide, and the interval is a bootstrap's.
        """
        return False

    @property
    def targets(self) -> Columns:
        """The columns of y that the score is about; None for all of them."""
        return None

    @abstractmethod
    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " p"]:
        """The parts whose mean is the score: of a dimension, a direction, or just one number.

        A part that the test rows cannot score, because its target is constant there, is −∞ and not counted.
        """

    def over(self, splits: Sequence[Split]) -> Float64[ndarray, " p"]:
        """The parts over all folds: each averaged over those that can score it, −∞ where none can.

        Where ranks differ between folds, the directions that all have.
        """
        profiles = [self.profile(*split) for split in splits]
        fewest = min(map(len, profiles))
        table = np.stack([p[:fewest] for p in profiles])
        there = np.isfinite(table)
        mean = np.where(there, table, 0).sum(0) / np.maximum(there.sum(0), 1)
        return np.where(there.any(0), mean, -np.inf)

    def unfit(self, moments: Moments) -> str | None:
        """Why the score would mean nothing on these rows, or None."""
        return None

    def score(self, train: Moments, test: Moments) -> float:
        """The score; where nothing is fitted, of the test part alone."""
        parts = self.profile(train, test)
        counted = parts[np.isfinite(parts)]
        return float(counted.mean()) if len(counted) else 0.0


class ExplainedShare(LinearMeasure):
    """1 − ΣSSE/ΣSST of each part, both summed over the folds before they are divided; nothing is clipped.

    SST is about the mean of the train part: a map that knows nothing predicts that mean and scores 0. About each fold's
    own mean it would be too low wherever a fold holds few groups, whose mean is a matter of chance.
    """

    @abstractmethod
    def squares(self, train: Moments, test: Moments) -> tuple[Float64[ndarray, " p"], Float64[ndarray, " p"]]:
        """SSE and SST of each part on the test rows."""

    def profile(self, train: Moments, test: Moments) -> Float64[ndarray, " p"]:
        return self.over([(train, test)])

    def over(self, splits: Sequence[Split]) -> Float64[ndarray, " p"]:
        wrong, total = np.sum([self.squares(*split) for split in splits], axis=0)
        return 1 - np.divide(wrong, total, where=total > 0, out=np.full(len(total), np.inf))


@dataclass(frozen=True, eq=False)
class Assessment:
    """A score of rows, its values without each chunk in turn, and its null.

    `null_score` is the score of those `null_rows` rows on which the permutations `null` were taken, and `beyond_place`
    where groups share the place in the group.
    """

    score: float
    left_out: Float64[ndarray, " g"]
    null_score: float
    null: Float64[ndarray, " b"]
    null_rows: int
    beyond_place: Float64[ndarray, " b"] | None = None


class RowMeasure(Measure):
    """A measure that needs the rows themselves, on a sample of them."""

    @abstractmethod
    def score(self, sample: Sample) -> float: ...

    @abstractmethod
    def assess(self, sample: Sample, permutations: int) -> Assessment:
        """The score of exchangeable rows with what its interval (a jackknife over chunks) and its null need."""


INSTEAD = "fewer columns, ridge regression or a measure that fits nothing (CKA, RSA, neighbours)"


def wide(train_rows: float, *widths: int, instead: str = INSTEAD) -> str | None:
    """The refusal of what is fitted without ridge: as many columns as rows fit anything."""
    if train_rows > max(widths) + 1:
        return None
    return f"{train_rows:.0f} train rows cannot tell {max(widths)} columns from noise: give more rows, {instead}"
