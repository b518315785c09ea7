"""Asking theory before training."""

from __future__ import annotations

from dataclasses import dataclass

from unmix.errors import require_kind
from unmix.indeterminacy import Indeterminacy
from unmix.model import Model
from unmix.processes import PairProcess
from unmix.theory import zimmermann2021
from unmix.theory.theorem import Assumption, Theorem

THEOREMS: tuple[Theorem, ...] = zimmermann2021.THEOREMS


@dataclass(frozen=True, repr=False)
class Guarantee:
    """What theory promises for one process and model.

    Attributes
    ----------
    theorem : the theorem that applies with the smallest promise, or None.
    promise : the class that f∘g is promised to lie in, or None.
    violated : for each theorem, the assumptions that fail; empty for those that apply.
    """

    theorem: Theorem | None
    promise: Indeterminacy | None
    violated: dict[Theorem, tuple[Assumption, ...]]

    def __bool__(self) -> bool:
        return self.promise is not None

    def within(self, tested: Indeterminacy) -> bool:
        """Whether what is promised is contained in a class: the tick of a table that scores that class."""
        return self.promise is not None and self.promise <= tested

    @property
    def holds(self) -> tuple[Assumption, ...]:
        """The assumptions met by the theorem that applies, or by the one that comes nearest to applying."""
        return tuple(a for a in self.nearest.assumptions if a not in self.violated[self.nearest])

    @property
    def nearest(self) -> Theorem:
        """The theorem that applies, or the one that fails in the fewest assumptions."""
        return self.theorem or min(self.violated, key=lambda t: len(self.violated[t]))

    def __str__(self) -> str:
        near = self.nearest
        marks = {a: "✗" if a in self.violated[near] else "✓" for a in near.assumptions}
        lines = "".join(f"\n  {mark} {a.statement}" for a, mark in marks.items())
        if self.theorem is not None:
            return (
                f"Promised: recovery up to the class {self.promise}, by {near.reference}, {near.name}, "
                f"with enough data and a rich enough encoder.{lines}"
            )
        return f"Nothing is promised. The nearest theorem is {near.reference}, {near.name}:{lines}"

    def __repr__(self) -> str:
        return f"Guarantee(promise={self.promise}, theorem={self.theorem.name if self.theorem else None})"


def guarantee(process: PairProcess, model: Model) -> Guarantee:
    """Check every theorem's assumptions against the process and the model, without training anything.

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
    """
    require_kind(process, PairProcess, "process", "um.PairProcess(...)")
    require_kind(model, Model, "model", "um.Model(...)")
    violated = {t: t.violated(process, model) for t in THEOREMS}
    promises = [(t.promise(process, model), t) for t, failed in violated.items() if not failed]
    for promise, theorem in promises:
        if not any(other < promise for other, _ in promises):
            return Guarantee(theorem, promise, violated)
    return Guarantee(None, None, violated)
