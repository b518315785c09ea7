"""How far an embedding recovers known latents, and up to what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float64, Int
from numpy import ndarray

from unmix.errors import require
from unmix.indeterminacy import AFFINE, LADDER, FittedMap, Indeterminacy
from unmix.measures.mcc import split_mcc
from unmix.measures.rows import as_matrix, split_rows
from unmix.moments import Moments

SIGNIFICANT = 0.01


@dataclass(frozen=True, eq=False)
class Step:
    """One rung of the ladder: the class, its map fitted on the train part, and R² on the test part."""

    up_to: Indeterminacy
    map: FittedMap
    per_dimension: Float64[ndarray, " d"]

    @property
    def r2(self) -> float:
        return float(self.per_dimension.mean())


@dataclass(frozen=True, eq=False, repr=False)
class Recovery:
    """The held-out scores of an embedding against the truth.

    Attributes
    ----------
    steps : a `Step` for each class of the ladder that applies.
    mcc_pearson, mcc_spearman : mean |correlation| after matching.
    null_r2, p_value : mean affine R² with rows permuted, and the share of permutations that reach the score.
    test_rows, kept : the rows that were held out, and the columns of the embedding that were not constant.
    minimal : the smallest classes whose R² is within `tolerance` of affine's; none if affine is not above chance
        by more than the tolerance.
    """

    steps: tuple[Step, ...]
    mcc_pearson: float
    mcc_spearman: float
    null_r2: float
    p_value: float
    minimal: tuple[Indeterminacy, ...]
    tolerance: float
    n_train: int
    test_rows: Int[ndarray, " m"]
    kept: Int[ndarray, " k"]
    width: int
    notes: tuple[str, ...]

    @property
    def n_test(self) -> int:
        return len(self.test_rows)

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
        affine, chance = f"{100 * self.r2():.2f} %", f"{100 * self.null_r2:.2f} %, p = {self.p_value:.3f}"
        if self.p_value > SIGNIFICANT:
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
            "r2_per_dimension": {str(s.up_to): s.per_dimension.tolist() for s in self.steps},
            "mcc_pearson": self.mcc_pearson,
            "mcc_spearman": self.mcc_spearman,
            "null_r2": self.null_r2,
            "p_value": self.p_value,
            "minimal": [str(c) for c in self.minimal],
            "tolerance": self.tolerance,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "notes": list(self.notes),
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        return (
            f"Recovery(affine R² {self.r2():.4f}, MCC {self.mcc_pearson:.4f}, up to {[str(c) for c in self.minimal]})"
        )

    def __str__(self) -> str:
        rows = [f"  {s.up_to!s:32} {s.r2:8.4f}" for s in self.steps]
        table = "\n".join(
            ["Held-out R² up to", *rows, f"MCC {self.mcc_pearson:.4f} (Spearman {self.mcc_spearman:.4f})"]
        )
        return "\n".join([table, self.verdict, *self.notes])


def recovery(
    embedding: Any, truth: Any, *, tolerance: float = 0.02, permutations: int = 199, seed: int = 0
) -> Recovery:
    """Fit each class of the ladder on a random half of the rows and score it on the other half.

    R² is 1 − SSE/SST a dimension, SST about the test mean, never clipped, averaged over dimensions.

    Parameters
    ----------
    embedding : (n, k) outputs f(x); arrays or tensors.
    truth : (n, d) latents z.
    tolerance : how much R² a smaller class may lose against affine and still explain the recovery.
    permutations : of rows, within each part, for the null.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(400, 3))
    >>> print(recovery(1 - z[:, [1, 2, 0]], z).minimal[0])  # on a box a flip needs the offset
    signed permutation + offset
    """
    require(
        isinstance(permutations, int) and permutations >= 1 / SIGNIFICANT - 1,
        f"{permutations!r} permutations cannot show that a score is above chance: take 99 or more.",
    )
    number = isinstance(tolerance, (int, float))
    require(number and 0 <= tolerance < np.inf, f"tolerance must be at least 0 and finite, not {tolerance}.")
    rows = split_rows(embedding, truth, seed)
    train, test = Moments.of(rows.train_x, rows.train_y), Moments.of(rows.test_x, rows.test_y)
    width, targets = train.xy.shape
    maps = ((c, c.fit(train)) for c in LADDER if c.applies(width, targets))
    steps = tuple(Step(c, fitted, fitted.r2(test)) for c, fitted in maps)
    affine = next(s.r2 for s in steps if s.up_to == AFFINE)

    rng = np.random.default_rng([seed, 1])
    null = np.empty(permutations)
    for i in range(permutations):
        shuffled_train = _shuffled(train, rows.train_x, rows.train_y, rng)
        null[i] = AFFINE.fit(shuffled_train).r2(_shuffled(test, rows.test_x, rows.test_y, rng)).mean()
    p_value = float((1 + (null >= affine).sum()) / (1 + permutations))

    # Where affine itself gains no more than the tolerance, every class would do: none is named.
    telling = p_value <= SIGNIFICANT and affine - null.mean() > tolerance
    enough = [s.up_to for s in steps if s.r2 >= affine - tolerance] if telling else []
    return Recovery(
        steps=steps,
        mcc_pearson=split_mcc(rows),
        mcc_spearman=split_mcc(rows, ranks=True),
        null_r2=float(null.mean()),
        p_value=p_value,
        minimal=tuple(c for c in enough if not any(smaller < c for smaller in enough)),
        tolerance=tolerance,
        n_train=train.n,
        test_rows=rows.test_rows,
        kept=rows.kept,
        width=np.shape(embedding)[1] if np.ndim(embedding) > 1 else 1,
        notes=rows.notes,
    )


def _shuffled(m: Moments, x: Float64[ndarray, "n k"], y: Float64[ndarray, "n d"], rng: np.random.Generator) -> Moments:
    """The moments of x paired with a permutation of y: only the cross-product changes."""
    return replace(m, xy=(x - m.mean_x).T @ (y - m.mean_y)[rng.permutation(m.n)])
