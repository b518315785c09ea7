"""How far an embedding recovers known latents, and up to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.indeterminacy import AFFINE, LADDER, FittedMap, Indeterminacy
from unmix.measures.evaluate import HeldOut, check_counts, evaluate, resample
from unmix.measures.ladder import TOLERANCE, minimal_classes
from unmix.measures.measure import Measure
from unmix.measures.paired import Paired
from unmix.measures.regression import UpTo
from unmix.measures.rows import as_matrix
from unmix.measures.score import Refusal, Score
from unmix.measures.truth import FACTORS, ranks_of, truth_door


@dataclass(frozen=True, eq=False)
class Step:
    """One rung of the ladder: the class, its map fitted on all folds but the first, and its held-out score."""

    up_to: Indeterminacy
    map: FittedMap
    held_out: HeldOut

    @property
    def r2(self) -> float:
        return self.held_out.value

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of R²."""
        low, high = self.held_out.spread
        return self.r2 + low, min(self.r2 + high, 1.0)

    @property
    def per_dimension(self) -> Float64[ndarray, " d"]:
        """R² of each latent."""
        return self.held_out.profile


@dataclass(frozen=True, eq=False, repr=False)
class Recovery:
    """The held-out scores of an embedding against the truth.

    Attributes
    ----------
    steps : a `Step` for each class of the ladder that applies.
    affine : the R² of the largest class with its null and p-value, which say whether anything is recovered.
    pearson, spearman : mean |correlation| after matching, of the values and of their ranks.
    test_rows, kept : the rows of the first fold, which the maps have not seen, and the columns of the embedding
        that are not constant.
    minimal : the smallest classes whose R² is within `tolerance` of affine's; none if affine is not above chance
        by more than the tolerance.
    """

    steps: tuple[Step, ...]
    affine: Score
    pearson: Score
    spearman: Score
    minimal: tuple[Indeterminacy, ...]
    tolerance: float
    n: int
    test_rows: Int[ndarray, " m"]
    kept: Int[ndarray, " k"]
    width: int
    notes: tuple[str, ...]

    @property
    def mcc_pearson(self) -> float:
        return self.pearson.value

    @property
    def mcc_spearman(self) -> float:
        return self.spearman.value

    def r2(self, up_to: Indeterminacy = AFFINE) -> float:
        """Mean held-out R² up to a class."""
        return self.step(up_to).r2

    def step(self, up_to: Indeterminacy) -> Step:
        """The rung of a class."""
        found = [s for s in self.steps if s.up_to == up_to]
        there = ", ".join(str(s.up_to) for s in self.steps)
        require(bool(found), f"there is no score up to {up_to!r}: give one of unmix.indeterminacy's ({there}).")
        return found[0]

    def recovered(self, embedding: Any, up_to: Indeterminacy = AFFINE) -> Float64[ndarray, "n d"]:
        """The embedding mapped onto the latents by the class's map, which was fitted on the train part."""
        table = as_matrix(embedding, "the embedding")
        require(table.shape[1] == self.width, f"the embedding must have {self.width} columns, not {table.shape[1]}.")
        return self.step(up_to).map(table[:, self.kept])

    @property
    def verdict(self) -> str:
        """One sentence."""
        s = self.affine
        affine = f"{100 * s.value:.2f} % [{100 * s.low:.2f}, {100 * s.high:.2f}]"
        chance = f"{100 * s.null:.2f} %, p = {s.p_value:.3f}"
        if not s.above_chance:
            return f"No linear recovery: affine R² {affine} is not above chance ({chance})."
        if not self.minimal:
            return (
                f"Hardly any linear recovery: affine R² {affine}, chance {chance}; too little to name a class of maps."
            )
        classes = "; ".join(str(c) for c in self.minimal)
        return (
            f"Affine R² is {affine} on held-out rows (chance {chance}). The smallest classes of maps that lose at most "
            f"{100 * self.tolerance:g} points of it: {classes}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "r2": {str(s.up_to): s.r2 for s in self.steps},
            "r2_interval": {str(s.up_to): s.interval for s in self.steps},
            "r2_per_dimension": {str(s.up_to): s.per_dimension.tolist() for s in self.steps},
            "affine": self.affine.as_dict(),
            "mcc_pearson": self.pearson.as_dict(),
            "mcc_spearman": self.spearman.as_dict(),
            "minimal": [str(c) for c in self.minimal],
            "tolerance": self.tolerance,
            "n": self.n,
            "notes": list(self.notes),
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        return (
            f"Recovery(affine R² {self.r2():.4f}, MCC {self.mcc_pearson:.4f}, up to {[str(c) for c in self.minimal]})"
        )

    def __str__(self) -> str:
        rows = [f"  {s.up_to!s:32} {s.r2:8.4f}  [{s.interval[0]:.4f}, {s.interval[1]:.4f}]" for s in self.steps]
        table = "\n".join(
            ["Held-out R² up to", *rows, f"MCC {self.mcc_pearson:.4f} (Spearman {self.mcc_spearman:.4f})"]
        )
        return "\n".join([table, self.verdict, *self.notes])


def recovery(
    embedding: Any,
    truth: Any,
    *,
    tolerance: float = TOLERANCE,
    groups: Any = None,
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    seed: int = 0,
) -> Recovery:
    """Fit each class of the ladder on all folds but one and score it on that one, for each fold in turn.

    R² is 1 − SSE/SST a dimension, SST about the test mean, never clipped, averaged over dimensions and folds.

    Parameters
    ----------
    embedding : (n, k) outputs f(x); arrays or tensors.
    truth : (n, d) latents z.
    tolerance : how much R² a smaller class may lose against affine and still explain the recovery.
    groups : (n,) labels of rows that belong together (sentences, subjects); folds and permutations keep them whole.
    bootstraps : resamples of chunks of rows for the intervals.
    permutations : of rows, within each fold, for the null.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(400, 3))
    >>> print(recovery(1 - z[:, [1, 2, 0]], z).minimal[0])  # on a box a flip needs the offset
    signed permutation + offset
    """
    number = isinstance(tolerance, (int, float))
    require(number and 0 <= tolerance < np.inf, f"tolerance must be at least 0 and finite, not {tolerance}.")
    x, y = as_matrix(embedding, "the embedding"), as_matrix(truth, "the truth")
    asked = {"groups": groups, "folds": folds, "seed": seed}
    paired = truth_door(x, y, **asked)
    check_counts(bootstraps, permutations)
    counts = {"bootstraps": bootstraps, "permutations": permutations}
    affine, pearson = _scores(paired, [UpTo(AFFINE), FACTORS], **counts)
    (spearman,) = _scores(truth_door(ranks_of(x), ranks_of(y), **asked), [FACTORS], **counts)
    classes = [c for c in LADDER if c.applies(len(paired.kept_x), len(paired.kept_y))]
    train = paired.folds.splits(only=1)[0][0]
    found = resample(paired, [UpTo(c) for c in classes], bootstraps)
    steps = tuple(Step(c, c.fit(train), h) for c, h in zip(classes, found, strict=True))

    # Where affine itself gains no more than the tolerance, every class would do: none is named.
    telling = affine.above_chance and affine.value - affine.null > tolerance
    return Recovery(
        steps=steps,
        affine=affine,
        pearson=pearson,
        spearman=spearman,
        minimal=minimal_classes({s.up_to: s.r2 for s in steps}, tolerance) if telling else (),
        tolerance=tolerance,
        n=len(x),
        test_rows=np.flatnonzero(paired.chunk % folds == 0),
        kept=paired.kept_x,
        width=x.shape[1],
        notes=paired.notes,
    )


def _scores(paired: Paired, measures: Sequence[Measure], **counts: Any) -> list[Score]:
    """The scores; what a comparison would refuse for one measure is refused here for the whole."""
    found = []
    for score in evaluate(paired, measures, **counts):
        if isinstance(score, Refusal):
            raise InputError(f"nothing can be scored: {score.reason}.")
        found.append(score)
    return found
