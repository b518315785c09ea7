"""Asking theory before training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unmix.errors import require, require_kind
from unmix.indeterminacy import Indeterminacy
from unmix.model import Model
from unmix.processes import ClusterProcess, PairProcess, Process, SectorProcess
from unmix.theory import corollaries, reizinger2025, roeder2021, zimmermann2021
from unmix.theory.theorem import Answer, Assumption, HeadPromise, Mark, Theorem

THEOREMS: dict[type[Process], tuple[Theorem, ...]] = {  # by what they are about
    PairProcess: (*zimmermann2021.THEOREMS, *corollaries.OF_PAIRS),
    ClusterProcess: (*reizinger2025.THEOREMS, *corollaries.OF_CLUSTERS),
    SectorProcess: (roeder2021.THEOREM_1_REALISED,),
}


@dataclass(frozen=True, repr=False)
class Guarantee:
    """What theory promises for one process and model. It is true if something is promised under no condition.

    Attributes
    ----------
    theorem : the theorem that applies with the smallest promise, or None.
    promise : the class that f∘g is promised to lie in, or None.
    answers : for each theorem, each of its assumptions with its mark: ✓ holds, ✗ fails, ? not known, – about something
        that is not there.
    promises : what each theorem that applies promises.
    head : what is promised of the rows of a linear head, with the scales of both, or None.
    """

    theorem: Theorem | None
    promise: Indeterminacy | None
    answers: Mapping[Theorem, Mapping[Assumption, Answer]]
    promises: Mapping[Theorem, Indeterminacy] = field(default_factory=dict)
    head: HeadPromise | None = None

    def __bool__(self) -> bool:
        return self.promise is not None and not self.conditions

    def within(self, tested: Indeterminacy) -> bool:
        """Whether what is promised is contained in a class: the tick of a table that scores that class."""
        return self.promise is not None and not self.conditions and self.promise <= tested

    @property
    def violated(self) -> dict[Theorem, tuple[Assumption, ...]]:
        """For each theorem, the assumptions that fail; empty for those that apply."""
        return {t: _marked(answers, Mark.FAILS) for t, answers in self.answers.items()}

    @property
    def conditions(self) -> tuple[Assumption, ...]:
        """The assumptions of the theorem that applies of which it is not known whether they hold."""
        return _marked(self.answers[self.theorem], Mark.UNKNOWN) if self.theorem else ()

    @property
    def holds(self) -> tuple[Assumption, ...]:
        """The assumptions met by the theorem that applies, or by the one that comes nearest to applying."""
        return _marked(self.answers[self.nearest], Mark.HOLDS) if self.nearest else ()

    @property
    def nearest(self) -> Theorem | None:
        """The theorem that applies, or the one that comes nearest to it; None if no theorem is about such a process.

        Nearest is a theorem about this objective, space and case; of several, the one that lacks the fewest
        assumptions; and of these the one of which the most hold.
        """
        return self.theorem or min(self.answers, key=self._distance, default=None)

    def _distance(self, theorem: Theorem) -> tuple[int, int, int]:
        lacks = [a for a, answer in self.answers[theorem].items() if answer.mark in (Mark.FAILS, Mark.ABSENT)]
        return sum(a.defining for a in lacks), len(lacks), -len(_marked(self.answers[theorem], Mark.HOLDS))

    @property
    def summary(self) -> str:
        """One sentence or a few: what is promised, by which theorem, and on what condition."""
        near = self.nearest
        if near is None:
            return "Nothing is promised: no theorem is about such a process."
        if self.theorem is None:
            return f"Nothing is promised. The nearest theorem is {near.reference}, {near.name}."
        condition = " and ".join(a.statement for a in self.conditions)
        on = f" on the condition, which is not known to hold, that {condition}" if condition else ""
        text = (
            f"Promised{on}: recovery up to the class {self.promise}, by {near.reference}, {near.name}, "
            "with enough data and a rich enough encoder."
        )
        others = {t: p for t, p in self.promises.items() if t.reference != near.reference}
        smallest = [
            f"{t.reference}, {t.name}: {p}" for t, p in others.items() if not any(q < p for q in others.values())
        ]
        larger = f" Promised by others that apply: {'; '.join(smallest)}." if smallest else ""
        return text + larger + self._of_head()

    def __str__(self) -> str:
        lines = self.answers[self.nearest].items() if self.nearest else ()
        return self.summary + "".join(
            f"\n  {answer.mark.value} {a.statement}" + (f" ({answer.seen})" if answer.seen else "")
            for a, answer in lines
        )

    def _of_head(self) -> str:
        if self.head is None:
            return ""
        scales = {"f(x) against z": self.head.scale, "rows against cluster vectors": self.head.row_scale}
        known = ", ".join(f"{what} {scale:g}" for what, scale in scales.items() if scale is not None)
        said = f" The head's rows are the cluster vectors up to the class {self.head.up_to}"
        return f"{said}; scales: {known}." if known else f"{said}."

    def __repr__(self) -> str:
        return f"Guarantee(promise={self.promise}, theorem={self.theorem.name if self.theorem else None})"


def guarantee(process: Process, model: Model, beta: float | None = None, theorems: Iterable[Theorem] = ()) -> Guarantee:
    """Check every theorem's assumptions against the process and the model, without training anything.

    A recipe may train another model than the one described: `um.guarantee(process, recipe.trained(model))` is about
    what is trained.

    Parameters
    ----------
    beta : 1/temperature of a head that has learned it, for the predicted scales; None is the model's own if fixed.
    theorems : theorems of your own, asked after those that unmix knows.

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
    known = next((found for kind, found in THEOREMS.items() if isinstance(process, kind)), ())
    answers = {t: t.check(process, model) for t in (*known, *_own(theorems))}
    promises = {
        t: t.promise(process, model) for t, found in answers.items() if not _marked(found, Mark.FAILS, Mark.ABSENT)
    }
    certain = {t: promise for t, promise in promises.items() if not _marked(answers[t], Mark.UNKNOWN)}
    candidates = certain or promises
    for theorem, promise in candidates.items():
        if not any(other < promise for other in candidates.values()):
            head = theorem.head(process, model, beta) if theorem.head else None
            return Guarantee(theorem, promise, answers, promises, head)
    return Guarantee(None, None, answers)


def _own(theorems: Iterable[Theorem]) -> tuple[Theorem, ...]:
    listed = tuple(theorems) if isinstance(theorems, Iterable) else (theorems,)
    for theorem in listed:
        require_kind(theorem, Theorem, "each of theorems", "um.theory.Theorem(...)")
    return listed


def _marked(answers: Mapping[Assumption, Answer], *marks: Mark) -> tuple[Assumption, ...]:
    return tuple(a for a, answer in answers.items() if answer.mark in marks)
