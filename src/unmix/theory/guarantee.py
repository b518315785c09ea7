"""Asking theory before training."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unmix.errors import require, require_kind
from unmix.indeterminacy import Indeterminacy
from unmix.model import Model
from unmix.processes import ClusterProcess, PairProcess, Process, SectorProcess
from unmix.theory import reizinger2025, roeder2021, zimmermann2021
from unmix.theory.theorem import Assumption, HeadPromise, Theorem

THEOREMS: dict[type[Process], tuple[Theorem, ...]] = {  # by what they are about
    PairProcess: zimmermann2021.THEOREMS,
    ClusterProcess: reizinger2025.THEOREMS,
    SectorProcess: (roeder2021.THEOREM_1_REALISED,),
}


@dataclass(frozen=True, repr=False)
class Guarantee:
    """What theory promises for one process and model.

    Attributes
    ----------
    theorem : the theorem that applies with the smallest promise, or None.
    promise : the class that f∘g is promised to lie in, or None.
    head : what is promised of the rows of a linear head, with the scales of both, or None.
    violated : for each theorem, the assumptions that fail; empty for those that apply.
    """

    theorem: Theorem | None
    promise: Indeterminacy | None
    violated: dict[Theorem, tuple[Assumption, ...]]
    head: HeadPromise | None = None

    def __bool__(self) -> bool:
        return self.promise is not None

    def within(self, tested: Indeterminacy) -> bool:
        """Whether what is promised is contained in a class: the tick of a table that scores that class."""
        return self.promise is not None and self.promise <= tested

    @property
    def holds(self) -> tuple[Assumption, ...]:
        """The assumptions met by the theorem that applies, or by the one that comes nearest to applying."""
        near = self.nearest
        return tuple(a for a in near.assumptions if a not in self.violated[near]) if near else ()

    @property
    def nearest(self) -> Theorem | None:
        """The theorem that applies, or the one that fails in the fewest assumptions; None if none is about this."""
        return self.theorem or min(self.violated, key=lambda t: len(self.violated[t]), default=None)

    def __str__(self) -> str:
        near = self.nearest
        if near is None:
            return "Nothing is promised: no theorem is about such a process."
        marks = {a: "✗" if a in self.violated[near] else "✓" for a in near.assumptions}
        lines = "".join(f"\n  {mark} {a.statement}" for a, mark in marks.items())
        if self.theorem is not None:
            return (
                f"Promised: recovery up to the class {self.promise}, by {near.reference}, {near.name}, "
                f"with enough data and a rich enough encoder.{self._of_head()}{lines}"
            )
        return f"Nothing is promised. The nearest theorem is {near.reference}, {near.name}:{lines}"

    def _of_head(self) -> str:
        if self.head is None:
            return ""
        scales = {"f(x) against z": self.head.scale, "rows against cluster vectors": self.head.row_scale}
        known = ", ".join(f"{what} {scale:g}" for what, scale in scales.items() if scale is not None)
        said = f" The head's rows are the cluster vectors up to the class {self.head.up_to}"
        return f"{said}; scales: {known}." if known else f"{said}."

    def __repr__(self) -> str:
        return f"Guarantee(promise={self.promise}, theorem={self.theorem.name if self.theorem else None})"


def guarantee(process: Process, model: Model, beta: float | None = None) -> Guarantee:
    """Check every theorem's assumptions against the process and the model, without training anything.

    Parameters
    ----------
    beta : 1/temperature of a head that has learned it, for the predicted scales; None is the model's own if fixed.

    Examples
    --------
    >>> import unmix as um
    >>> process = um.PairProcess(um.Sphere(10), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP())
    >>> model = um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), temperature=0.1), um.outputs.Sphere())
    >>> print(um.guarantee(process, model).promise)
    orthogonal
    >>> warmer = um.Model(um.encoders.MLP(), um.InfoNCE(um.Dot(), temperature=1.0), um.outputs.Sphere())
    >>> [a.statement for a in um.guarantee(process, warmer).violated[um.theory.THEOREM_2]]
    ['r²/τ equals κ, or r or τ is learned']
    >>> world = um.ClusterProcess(um.Sphere(5), um.Clusters(100), um.VonMisesFisher(10.0), um.mixings.MLP(4))
    >>> found = um.guarantee(world, um.Model(um.encoders.MLP(), um.DIET(unit_rows=True)))
    >>> print(found.promise, found.head.scale, found.theorem.name)  # f = (κ/β) O z
    scaled orthogonal 10.0 Theorem 1, case C3
    """
    require_kind(process, Process, "process", "um.PairProcess(...)")
    require_kind(model, Model, "model", "um.Model(...)")
    require(beta is None or 0 < beta < math.inf, f"β must be positive and finite, not {beta}.")
    theorems = next((found for kind, found in THEOREMS.items() if isinstance(process, kind)), ())
    violated = {t: t.violated(process, model) for t in theorems}
    promises = [(t.promise(process, model), t) for t, failed in violated.items() if not failed]
    for promise, theorem in promises:
        if not any(other < promise for other, _ in promises):
            head = theorem.head(process, model, beta) if theorem.head else None
            return Guarantee(theorem, promise, violated, head)
    return Guarantee(None, None, violated)
