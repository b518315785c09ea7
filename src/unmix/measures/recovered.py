"""How far an embedding recovered known latents: the scores, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float64, Int
from numpy import ndarray

from unmix.errors import require
from unmix.indeterminacy import AFFINE, FittedMap, Indeterminacy
from unmix.measures.rows import as_matrix
from unmix.measures.score import HeldOut, Score


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
    pearson, spearman : mean |correlation| after matching, of the values and of their ranks; None of ranks where all
        rows would not fit in memory.
    test_rows, kept : the rows of the first fold, which the maps have not seen, and the columns of the embedding
        that are not constant.
    minimal : the smallest classes whose R² is within `tolerance` of affine's; none if affine is not above chance
        by more than the tolerance.
    """

    steps: tuple[Step, ...]
    affine: Score
    pearson: Score
    spearman: Score | None
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
    def mcc_spearman(self) -> float | None:
        return self.spearman.value if self.spearman else None

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
        if s.p_value is None:
            classes = "; ".join(str(c) for c in self.minimal) or "none is named"
            return (
                f"Affine R² is {affine} on held-out rows ({s.caveat}). The smallest classes of maps that lose at most "
                f"{100 * self.tolerance:g} points of it: {classes}."
            )
        chance = f"{100 * s.null:.2f} %, p = {s.p_value:.3f}" + (f"; {s.caveat}" if s.caveat else "")
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
            "mcc_spearman": self.spearman.as_dict() if self.spearman else None,
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
        ranks = f" (Spearman {self.mcc_spearman:.4f})" if self.mcc_spearman is not None else ""
        table = "\n".join(["Held-out R² up to", *rows, f"MCC {self.mcc_pearson:.4f}{ranks}"])
        return "\n".join([table, self.verdict, *self.notes])
