"""What a probe predicts, numbers or classes: how a prediction is scored, and how gradient boosting is fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.audit.discriminant import balanced_accuracy

TREES, MOST_SPLIT_COLUMNS, STOPPABLE = 100, 64, 20

Rows = Int64[ndarray, " _"]
Predictor = Callable[[Float64[ndarray, "r k"]], Any]


@dataclass(frozen=True, eq=False)
class Numbers:
    """One or more columns of numbers, scored by R² = 1 − ΣSSE/ΣSST about the mean of the train part.

    Parameters
    ----------
    truth : (m, t).
    middle : (m, t), for each row the mean of the train part of the split that holds the row out.
    """

    truth: Float64[ndarray, "m t"]
    middle: Float64[ndarray, "m t"]
    blind = 0.0  # the score of a guess that does not look at the outputs

    @classmethod
    def of(cls, truth: Float64[ndarray, "m t"], splits: Sequence[tuple[Rows, Rows]]) -> Numbers:
        middle = np.zeros_like(truth)
        for train, held in splits:
            middle[held] = truth[train].mean(0)
        return cls(truth, middle)

    def score(self, guess: Float64[ndarray, "r t"], rows: Rows) -> float:
        truth = self.truth[rows]
        spread = ((truth - self.middle[rows]) ** 2).sum()
        return float(1 - ((truth - guess) ** 2).sum() / spread) if spread > 0 else 0.0

    def agreement(self, guess: Float64[ndarray, "r t"], rows: Rows) -> float:
        """The squared correlation with its sign: R² if the guess had the scale that fits these rows best.

        Paired at random, a guess that varies has an R² far below 0; its squared correlation shows luck alone.
        """
        truth = self.truth[rows] - self.truth[rows].mean(0)
        guess = guess - guess.mean(0)
        size = (truth**2).sum() * (guess**2).sum()
        r = float((truth * guess).sum() / np.sqrt(size)) if size > 0 else 0.0
        return r * abs(r)

    def columns(self, values: Float64[ndarray, "r t"]) -> Float64[ndarray, "r t"]:
        """Values or guesses as numbers."""
        return values

    def boosted(self, x: Float64[ndarray, "m k"], train: Rows, stop: bool, seed: int) -> Predictor:
        from sklearn.ensemble import HistGradientBoostingRegressor  # slow to import

        settings = _settings(x, 1, stop and len(train) >= STOPPABLE, seed)
        models = [HistGradientBoostingRegressor(**settings).fit(x[train], t) for t in self.truth[train].T]
        return lambda x: np.stack([m.predict(x) for m in models], 1)


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each row, scored by balanced accuracy."""

    truth: Int64[ndarray, " m"]
    count: int

    @property
    def blind(self) -> float:
        """The score of a guess that does not look at the outputs."""
        return 1 / self.count

    def score(self, guess: Int64[ndarray, " r"], rows: Rows) -> float:
        cells = np.bincount(self.truth[rows] * self.count + guess, minlength=self.count**2)
        return balanced_accuracy(cells.reshape(self.count, self.count).astype(np.float64))

    agreement = score

    def columns(self, values: Int64[ndarray, " r"]) -> Float64[ndarray, "r c"]:
        """Classes or guesses as numbers: a column a class."""
        return np.eye(self.count)[values]

    def boosted(self, x: Float64[ndarray, "m k"], train: Rows, stop: bool, seed: int) -> Predictor:
        from sklearn.ensemble import HistGradientBoostingClassifier

        codes = self.truth[train]
        counts = np.bincount(codes, minlength=self.count)
        common = int(counts[counts > 0].min()) >= STOPPABLE
        settings = _settings(x, self.count, stop and common, seed)
        model = HistGradientBoostingClassifier(**settings).fit(x[train], codes)
        sizes = counts[model.classes_]
        return lambda x: model.classes_[(model.predict_proba(x) / sizes).argmax(1)]  # classes count alike


Target = Numbers | Classes


def _settings(x: Float64[ndarray, "m k"], outputs: int, stop: bool, seed: int) -> dict[str, Any]:
    return {
        "max_iter": max(20, TREES // outputs),
        "max_features": min(1.0, MOST_SPLIT_COLUMNS / x.shape[1]),
        # It stops by rows drawn at random: not where these would be of groups that it has seen, nor of rare classes.
        "early_stopping": stop,
        "random_state": seed,
    }
