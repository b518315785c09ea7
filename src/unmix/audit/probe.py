"""What a nonlinear probe finds that a linear one does not, and which outputs it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy import ndarray

from unmix.audit.discriminant import balanced_accuracy, discriminant
from unmix.factors import Factor
from unmix.indeterminacy import AFFINE
from unmix.measures.paired import Paired
from unmix.measures.sample import chosen
from unmix.measures.score import jackknife_spread
from unmix.moments import Moments
from unmix.tables import Table

MOST_ROWS, TREES, MOST_SPLIT_COLUMNS, STOPPABLE = 50_000, 100, 64, 20
PERMUTED_CELLS, FEWEST_PERMUTED, MOST_PERMUTED = 32_000, 200, 1000


@dataclass(frozen=True, eq=False)
class Probe:
    """Gradient boosting next to a linear map, both fitted on the same rows and scored on the same others.

    Attributes
    ----------
    boosted, linear : R² or balanced accuracy on the held-out rows.
    gain, low, high : boosted − linear, and its 95 % interval.
    importance : for each output, how much of the boosted score is lost when it alone is permuted; at least 0.
    rows : those fitted on, and those scored on.
    """

    boosted: float
    linear: float
    low: float
    high: float
    importance: Float64[ndarray, " k"]
    rows: tuple[int, int]

    @property
    def gain(self) -> float:
        return self.boosted - self.linear

    @property
    def adds(self) -> bool:
        """Whether the gain is above 0 by its interval."""
        return self.low > 0

    def as_dict(self) -> dict[str, Any]:
        names = ("boosted", "linear", "gain", "low", "high")
        return {name: getattr(self, name) for name in names} | {
            "rows": list(self.rows),
            "importance": self.importance.tolist(),
        }


@dataclass(frozen=True, eq=False)
class ProbeRows:
    """At most 50,000 rows: outputs, which of them are held out, and their chunks."""

    x: Float64[ndarray, "m k"]
    index: Int64[ndarray, " m"]
    held: Bool[ndarray, " m"]
    chunk: Int64[ndarray, " m"]
    grouped: bool
    seed: int

    @classmethod
    def of(cls, table: Table, paired: Paired) -> ProbeRows:
        seed = paired.sample.seed
        rows = np.flatnonzero(paired.fold >= 0)  # in time, rows between folds belong to none
        rows = rows[chosen(paired.group[rows], MOST_ROWS, seed)] if len(rows) > MOST_ROWS else rows
        x = np.asarray(table.values[rows], np.float64)[:, paired.kept_x]
        chunk = paired.chunk[rows]
        grouped = paired.groups is not None or paired.gap is not None
        return cls(x, rows, paired.fold[rows] == 0, chunk, grouped, seed)


def probed(rows: ProbeRows, factor: Factor, targets: Float64[ndarray, "m t"]) -> Probe | None:
    """Fit and score the probe of one factor, whose targets are given for the probe's rows; None of a single class."""
    held, train = rows.held, ~rows.held
    x, y = rows.x, targets
    moments = Moments.of(x[train], y[train])
    everything = tuple(range(y.shape[1]))
    if factor.categorical:
        if len(np.unique(y[train].argmax(1))) < 2:
            return None
        truth = y[held].argmax(1)
        straight = discriminant(moments, everything)(x[held])
        model = _classifier(rows, y[train].argmax(1), len(factor.levels))

        def score(guess: Any, kept: Any = slice(None)) -> float:
            table = np.zeros((y.shape[1], y.shape[1]))
            np.add.at(table, (truth[kept], guess[kept]), 1)
            return balanced_accuracy(table)
    else:
        truth = y[held]
        straight = AFFINE.fit(moments)(x[held])
        model = _regressors(rows, y[train])

        def score(guess: Any, kept: Any = slice(None)) -> float:
            spread = ((truth[kept] - truth[kept].mean(0)) ** 2).sum()
            return float(1 - ((truth[kept] - guess[kept]) ** 2).sum() / spread) if spread > 0 else 0.0

    guess = model(rows.x[held])
    chunks = rows.chunk[held]
    without = [chunks != c for c in np.unique(chunks)]
    spread = jackknife_spread(np.array([score(guess, w) - score(straight, w) for w in without]))
    boosted, linear = score(guess), score(straight)
    gain = boosted - linear
    importance = _importance(rows, model, score)
    return Probe(boosted, linear, gain + spread[0], gain + spread[1], importance, (int(train.sum()), int(held.sum())))


def _importance(rows: ProbeRows, model: Any, score: Any) -> Float64[ndarray, " k"]:
    """The drop of the held-out score when one output is permuted, for each output in turn."""
    x = rows.x[rows.held]
    some = int(np.clip(PERMUTED_CELLS // x.shape[1], FEWEST_PERMUTED, MOST_PERMUTED))
    rng = np.random.default_rng([rows.seed, 5])
    kept = np.sort(rng.permutation(len(x))[:some])
    order = rng.permutation(len(kept))
    base = model(x[kept])
    whole = np.zeros((len(x), *base.shape[1:]), base.dtype)

    def of(guess: Any) -> float:
        whole[kept] = guess
        return score(whole, kept)

    best, found = of(base), []
    for column in range(x.shape[1]):
        mixed = x[kept]
        mixed[:, column] = mixed[order, column]
        found.append(best - of(model(mixed)))
    return np.maximum(found, 0)


def _settings(rows: ProbeRows, outputs: int, fewest: int) -> dict[str, Any]:
    return {
        "max_iter": max(20, TREES // outputs),
        "max_features": min(1.0, MOST_SPLIT_COLUMNS / rows.x.shape[1]),
        # It stops by rows drawn at random: not where these would be of groups that it has seen, nor of rare classes.
        "early_stopping": not rows.grouped and fewest >= STOPPABLE,
        "random_state": rows.seed,
    }


def _regressors(rows: ProbeRows, y: Float64[ndarray, "m t"]) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor  # slow to import

    x = rows.x[~rows.held]
    models = [HistGradientBoostingRegressor(**_settings(rows, 1, len(x))).fit(x, target) for target in y.T]
    return lambda x: np.stack([m.predict(x) for m in models], 1)


def _classifier(rows: ProbeRows, codes: Int64[ndarray, " m"], classes: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    counts = np.bincount(codes, minlength=classes)
    settings = _settings(rows, classes, int(counts[counts > 0].min()))
    model = HistGradientBoostingClassifier(**settings).fit(rows.x[~rows.held], codes)
    sizes = counts[model.classes_]
    return lambda x: model.classes_[(model.predict_proba(x) / sizes).argmax(1)]  # classes count alike
