"""How far an embedding recovered known latents: the scores, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float64, Int
from numpy import ndarray

from unmix.errors import require
from unmix.indeterminacy import AFFINE, FittedMap, Indeterminacy
from unmix.measures.digits import number
from unmix.measures.ladder import Ladder
from unmix.measures.rows import as_matrix
from unmix.measures.score import HeldOut, Score
from unmix.measures.words import classes_named, monotone_named, not_judged, why_no_class


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
    columns : the names of the truth's columns.
    ladder : whether the recovery is complete, and the smallest classes of maps that it is complete up to.
    monotone : the smallest R² of the latents' ranks, in any direction, when each latent is a monotone function of one
        output; None where a permutation is named, which says more.
    """

    steps: tuple[Step, ...]
    affine: Score
    pearson: Score
    spearman: Score | None
    ladder: Ladder
    monotone: float | None
    tolerance: float
    n: int
    test_rows: Int[ndarray, " m"]
    kept: Int[ndarray, " k"]
    width: int
    columns: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def minimal(self) -> tuple[Indeterminacy, ...]:
        """The classes that the verdict names: none, one or two."""
        return self.ladder.minimal

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
        """What is recovered and up to what, in sentences that can be quoted."""
        said = [self._linear, monotone_named(self.monotone, "Each column of the truth", "output")]
        return " ".join(filter(None, [*said, not_judged(self.ladder, self.columns)]))

    @property
    def _linear(self) -> str:
        affine, where = f"affine R² {self.affine}", f"{self.affine.rows_shown}, held out"
        if not self.affine.can_tell:
            return f"No linear recovery is shown with {self.affine.rows_shown}: {affine}."
        caveat = f" ({self.affine.caveat})" if self.affine.caveat and self.affine.p_value is not None else ""
        if self.affine.hardly:
            return f"Hardly any linear recovery{caveat}: {affine}, {where}."
        if self.ladder.named:
            return f"Recovered up to maps of the class {classes_named(self.ladder)}{caveat}: {affine}, {where}."
        why = why_no_class(self.ladder, self.columns, "the truth")
        return f"Recovered in part{caveat}: {affine}, {where}; {why}."

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
            "ladder": self.ladder.as_dict(),
            "monotone": self.monotone,
            "tolerance": self.tolerance,
            "n": self.n,
            "notes": list(self.notes),
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        return (
            f"Recovery(affine R² {number(self.r2())}, MCC {number(self.mcc_pearson)}, "
            f"up to {[str(c) for c in self.minimal]})"
        )

    def __str__(self) -> str:
        rows = [
            f"  {s.up_to!s:32} {number(s.r2):>8}  [{number(s.interval[0])}, {number(s.interval[1])}]"
            for s in self.steps
        ]
        ranks = f" (Spearman {number(self.mcc_spearman)})" if self.mcc_spearman is not None else ""
        table = ["Held-out R² up to", *rows, f"MCC {number(self.mcc_pearson)}{ranks}"]
        return "\n".join([*table, self.verdict, *(f"Note: {note}." for note in self.notes)])
