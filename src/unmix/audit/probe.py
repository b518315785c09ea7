"""What a nonlinear probe finds that a linear one does not, and which outputs the better of the two uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.audit.classes import Columns
from unmix.audit.discriminant import discriminant
from unmix.audit.probe_rows import Orders, ProbeRows
from unmix.audit.target import Classes, Numbers, Predictor, Target
from unmix.factors import Factor
from unmix.indeterminacy import AFFINE
from unmix.measures.digits import number
from unmix.measures.score import Chance, is_above_chance, jackknife_spread, may_be_place, next_to_chance
from unmix.moments import Moments

PERMUTED_CELLS, FEWEST_PERMUTED, MOST_PERMUTED = 32_000, 200, 1000
FIFTHS = (0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True, eq=False)
class Probe:
    """Gradient boosting next to a linear map, both fitted on the same rows and scored on the same others.

    Attributes
    ----------
    boosted, linear : R² or balanced accuracy on the held-out rows.
    boosted_low, boosted_high : the 95 % interval of `boosted`, of the held-out rows, the fit as it is.
    gain, low, high : boosted − linear, and its 95 % interval.
    null : what the boosted predictions reach on other rows than their own, on average: 0 to rounding for many
        independent rows, or 1/c of c classes. For numbers they are first given the scale that fits these rows best.
    p_value : of the boosted score; see `chance`. None where chance cannot be judged, and nothing is then said of it.
    p_beyond_place : where predictions and truth both depend on the place in the group, p of what they share beyond it.
    not_judged : why chance cannot be judged; empty where it can be.
    better : the one with the higher score, "boosted" or "linear".
    importance : for each output, how much of the better one's score is lost when it alone is permuted; at least 0.
    rows : those fitted on, and those scored on.
    blind : the score of a guess that does not look at the outputs, 0 or 1/c.
    """

    boosted: float
    boosted_low: float
    boosted_high: float
    linear: float
    low: float
    high: float
    null: float
    p_value: float | None
    not_judged: str
    permutations: int
    importance: Float64[ndarray, " k"]
    rows: tuple[int, int]
    blind: float
    p_beyond_place: float | None = None

    @property
    def gain(self) -> float:
        return self.boosted - self.linear

    @property
    def calibrated(self) -> float:
        """The boosted score with chance at 0 and the most there is at 1."""
        return (self.boosted - self.null) / (1 - self.null) if self.null < 1 else 0.0

    @property
    def above_chance(self) -> bool:
        return is_above_chance(self.boosted, self.null, self.p_value)

    @property
    def adds(self) -> bool:
        """Whether boosting is above its chance, and better than the linear map by the interval."""
        return self.above_chance and self.low > 0

    @property
    def worse(self) -> bool:
        """Whether boosting is worse than the linear map by the interval."""
        return self.high < 0

    @property
    def chance_shown(self) -> str:
        """Such as "chance 0.200, p < 1/200"."""
        said = next_to_chance(number(self.null), self.p_value, self.p_beyond_place, self.permutations, self.not_judged)
        return ", ".join(filter(None, [said, may_be_place(self.p_beyond_place, self.above_chance)]))

    @property
    def classes(self) -> int:
        """How many there are; 0 of numbers."""
        return round(1 / self.blind) if self.blind else 0

    @property
    def better(self) -> str:
        return "boosted" if self.gain > 0 else "linear"

    def strength(self, score: float) -> float:
        """A score with that of a blind guess at 0 and the most there is at 1."""
        return (score - self.blind) / (1 - self.blind)

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS} | {
            "rows": list(self.rows),
            "importance": self.importance.tolist(),
        }


FIELDS = (
    "boosted", "boosted_low", "boosted_high", "linear", "gain", "low", "high", "null", "p_value", "p_beyond_place",
    "not_judged",
    "calibrated", "better",
)  # fmt: skip


def probed(rows: ProbeRows, factor: Factor, columns: Columns, not_judged: str = "") -> Probe | None:
    """The probe of a factor, whose targets are these columns; None if a train part has a single class.

    Parameters
    ----------
    not_judged : why chance cannot be judged of this factor on all rows, if it cannot.
    """
    chosen_columns = np.array(columns)
    moments = [m.targets(chosen_columns) for m in rows.moments]
    target: Target
    models: list[Predictor]
    if factor.categorical:
        target = Classes(rows.y[:, chosen_columns].argmax(1), len(columns))
        models = [discriminant(m, range(len(columns))) for m in moments]
    else:
        target = Numbers.of(rows.y[:, chosen_columns], rows.splits)
        models = [AFFINE.fit(m) for m in moments]
    return _compared(rows, target, models, not_judged)


def fifths_probed(rows: ProbeRows, columns: Columns, not_judged: str = "") -> Probe | None:
    """The probe of which fifth of its values a number is in; of an angle, of five sectors.

    It finds what no prediction of the number itself can: of x = (z − 20)², with z as often below 20 as above, the best
    prediction of z is 20 for every x. The linear map says a fifth too, by where its prediction is among those of the
    train part.
    """
    targets = rows.y[:, list(columns)]
    known = _value(targets)
    codes = np.unique(np.searchsorted(np.unique(np.quantile(known, FIFTHS)), known), return_inverse=True)[1]
    count = int(codes.max()) + 1
    moments = [m.targets(np.array(columns)) for m in rows.moments]
    line = [_fifth(m, rows.x[train], codes[train], count) for m, (train, _) in zip(moments, rows.splits, strict=True)]
    return _compared(rows, Classes(codes, count), line, not_judged)


def _fifth(moments: Moments, x: Float64[ndarray, "r k"], codes: Int64[ndarray, " r"], count: int) -> Predictor:
    """The class of a linear prediction, as common among predictions as the class is among rows."""
    line = AFFINE.fit(moments)
    shares = np.cumsum(np.bincount(codes, minlength=count))[:-1] / len(codes)
    ends = np.quantile(_value(line(x)), shares)
    return lambda x: np.searchsorted(ends, _value(line(x)))


def _value(targets: Float64[ndarray, "r t"]) -> Float64[ndarray, " r"]:
    """The number itself, or the angle whose cosine and sine are given."""
    return np.arctan2(targets[:, 1], targets[:, 0]) if targets.shape[1] == 2 else targets[:, 0]


def _compared(rows: ProbeRows, target: Target, straight: Sequence[Predictor], not_judged: str) -> Probe | None:
    """Boosting and the linear maps on every split."""
    if isinstance(target, Classes) and min(len(np.unique(target.truth[train])) for train, _ in rows.splits) < 2:
        return None
    seed = rows.sample.seed
    boosting = [target.boosted(rows.x, train, not rows.grouped, seed) for train, _ in rows.splits]
    guess, plain = rows.predictions(boosting), rows.predictions(straight)
    held = rows.held
    chunks = rows.sample.chunk[held]
    without = [held[chunks != c] for c in np.unique(chunks)]
    left_out = np.array([(target.score(guess[w], w), target.score(plain[w], w)) for w in without])
    boosted, linear = target.score(guess[held], held), target.score(plain[held], held)
    of_boosted, of_gain = jackknife_spread(left_out[:, 0]), jackknife_spread(left_out[:, 0] - left_out[:, 1])
    why = not_judged or rows.unjudged(target)
    null, p_value = chance(rows.orders, target, guess)
    beyond = chance(rows.orders_in_place, target, guess)[1] if not why and rows.shares_place(target, guess) else None
    gain = boosted - linear
    return Probe(
        boosted=boosted,
        boosted_low=boosted + of_boosted[0],
        boosted_high=min(boosted + of_boosted[1], 1.0),
        linear=linear,
        low=gain + of_gain[0],
        high=gain + of_gain[1],
        null=null,
        p_value=None if why else p_value,
        not_judged=why,
        permutations=rows.permutations,
        importance=_importance(rows, target, boosting if gain > 0 else straight),
        rows=(min(len(train) for train, _ in rows.splits), len(held)),
        blind=target.blind,
        p_beyond_place=beyond,
    )


def chance(orders: Orders, target: Target, guess: Any) -> tuple[float, float]:
    """The mean null of held-out predictions, and p.

    The fits stay as they are, and predictions of a split are given to its other held-out rows, which is exact for one
    split. The p-values of K splits, whose fits share rows, are joined by Bonferroni's K min p, which holds however they
    depend on one another.
    """
    found = []
    for here, others in orders:
        null = np.array([target.agreement(guess[here], order) for order in others])
        found.append(Chance(target.agreement(guess[here], here), null, len(here)))
    # Of a correlation the size counts here, as a scale that fits best may be negative.
    mean = float(np.mean([np.abs(c.null).mean() for c in found]))
    return mean, min(1.0, len(found) * min(c.p_value for c in found if c.p_value is not None))


def _importance(rows: ProbeRows, target: Target, models: Sequence[Predictor]) -> Float64[ndarray, " k"]:
    """The drop of the held-out score when one output is permuted, for each output in turn."""
    width = rows.x.shape[1]
    some = int(np.clip(PERMUTED_CELLS // width, FEWEST_PERMUTED, MOST_PERMUTED)) // len(rows.splits)
    rng = np.random.default_rng([rows.sample.seed, 5])
    parts = [np.sort(rng.permutation(held)[:some]) for _, held in rows.splits]
    orders = [rng.permutation(len(part)) for part in parts]
    kept = np.concatenate(parts)

    def score(column: int | None) -> float:
        guesses = []
        for model, part, order in zip(models, parts, orders, strict=True):
            mixed = rows.x[part]
            if column is not None:
                mixed[:, column] = mixed[order, column]
            guesses.append(model(mixed))
        return target.score(np.concatenate(guesses), kept)

    best = score(None)
    return np.maximum([best - score(column) for column in range(width)], 0)
