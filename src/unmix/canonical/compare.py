"""Two models with f and g: what theory promises of them, and what is so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmix.canonical.alignment import Alignment, align
from unmix.canonical.distances import Distance, distances
from unmix.canonical.diversity import Diversity, diversity
from unmix.canonical.model import CanonicalModel
from unmix.errors import require, require_kind
from unmix.files import write_json
from unmix.measures.cca import CCA
from unmix.measures.digits import number
from unmix.measures.evaluate import evaluate
from unmix.measures.measure import LinearMeasure
from unmix.measures.paired import pair
from unmix.measures.regression import R2
from unmix.measures.score import Refusal, Score
from unmix.moments import Moments
from unmix.tables import index_of, moved, orders_of
from unmix.theory.roeder2021 import THEOREM_1
from unmix.theory.theorem import Assumption

NEARLY, SAME, EQUAL = 0.9, 0.99, 1 - 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """What is promised, and what is measured, of a model f, g and another f′, g′.

    Attributes
    ----------
    violated : the assumptions of Roeder's Theorem 1 that fail; then nothing is promised.
    diversity : of each model.
    seen : the dimensions of f and f′ that the distributions can see; where fewer than M, all that follows is
        measured in these coordinates.
    inputs : how many inputs both models are given.
    alignment : A by three ways, their disagreement, and the residual of B = A^{-T}.
    scores : R² of f′ from f with A fitted and held out, and mean CCA.
    label_r2 : R² of f′ = A f with A from the labels alone: nothing is fitted to f.
    distances : of the two predicted distributions.
    equal_logits : 1 − E‖ℓ − ℓ′‖²/E‖ℓ‖² of centred logits: 1 only if the distributions are equal.
    """

    names: tuple[str, str]
    violated: tuple[Assumption, ...]
    diversity: tuple[Diversity, Diversity]
    seen: tuple[int, int]
    inputs: int
    alignment: Alignment
    scores: tuple[Score | Refusal, ...]
    label_r2: float
    distances: dict[str, Distance]
    equal_logits: float
    notes: tuple[str, ...] = ()

    @property
    def promised(self) -> bool:
        """Whether the theorem's assumptions on the two models hold; its premise is that the distributions are equal."""
        return not self.violated

    @property
    def verdict(self) -> str:
        """In words: what theory promises, whether its premise holds, and what is so."""
        x, y = self.names
        theory = f"{THEOREM_1.reference}, {THEOREM_1.name}"
        if self.promised:
            text = f"{theory}: if {x} and {y} predict the same distribution, f′ = A f and centred g′ = A^-T g."
        else:
            failed = "; ".join(a.statement for a in self.violated)
            text = f"Theory promises nothing ({theory}; these of its assumptions fail: {failed})."
            if self.seen != (self.diversity[0].width, self.diversity[1].width):
                text += f" Measured on the {self.seen[0]} and {self.seen[1]} dimensions that the distributions see."
        kl, near = self.distances["KL"], f"centred logits R² {number(self.equal_logits)}"
        equal = "equal" if self.equal_logits >= EQUAL else "nearly equal" if self.equal_logits >= SAME else "not equal"
        text += f" The distributions are {equal}: {near}, KL {kl}; {self.inputs:,} inputs."
        if self.equal_logits < SAME and kl.value < 0.01:
            text += " Closeness in KL does not bound the distance of representations."
        f, g = f"f of {x}", f"f′ of {y}"
        forth, back = self.scores[:2]
        return (
            f"{text} {_linear(g, f, forth)} {_linear(f, g, back)} With the map of the labels alone R² of f′ from f is "
            f"{number(self.label_r2)}; the residual of B = A^-T is {self.alignment.g_residual:.3g} times ‖g′‖."
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "names": list(self.names),
            "promised": self.promised,
            "violated": [a.statement for a in self.violated],
            "diversity": [d.as_dict() for d in self.diversity],
            "seen": list(self.seen),
            "inputs": self.inputs,
            "alignment": self.alignment.as_dict(),
            "scores": {s.measure.name: s.as_dict() for s in self.scores},
            "label_r2": self.label_r2,
            "distances": {name: d.as_dict() for name, d in self.distances.items()},
            "equal_logits": self.equal_logits,
            "verdict": self.verdict,
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write everything as .json."""
        file = Path(path)
        require(file.suffix == ".json", f"a comparison of models is saved as .json, not as {file.name}.")
        write_json(file, self.as_dict())

    def __repr__(self) -> str:
        return f"ModelComparison({self.names[0]}, {self.names[1]}; promised: {self.promised})"

    def __str__(self) -> str:
        lines = [f"x = f of {self.names[0]}, y = f′ of {self.names[1]}, {self.inputs:,} inputs"]
        for name, d in zip(self.names, self.diversity, strict=True):
            lines.append(
                f"  {name}: K = {d.labels}, M = {d.width}, rank {d.rank}, condition of centred g {d.condition:.3g}; of "
                f"the best label tuple {d.chosen_condition:.3g}, of a random one {d.random_condition:.3g}"
            )
        lines += [f"  {s.measure.name:24} {s}" for s in self.scores]
        lines.append(f"  {'R² by labels alone':24} {number(self.label_r2)}")
        lines += [f"  A by {a} and by {b}: {v:.3g} apart" for (a, b), v in self.alignment.disagreement.items()]
        lines.append(f"  A by regression on two halves: {self.alignment.halves:.3g} apart")
        lines.append(f"  {'residual of B = A^-T':24} {self.alignment.g_residual:.3g} times ‖g′‖")
        lines += [f"  {name:24} {d}" for name, d in self.distances.items()]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes), self.verdict])


def compare_models(
    first: CanonicalModel,
    second: CanonicalModel,
    *,
    groups: Any = None,
    time: bool = False,
    blocks: int | None = None,
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    sample: int | None = None,
    seed: int = 0,
) -> ModelComparison:
    """Compare two models p(y|x) ∝ exp f(x)ᵀg(y) of the same inputs and labels, in the same order.

    The labels are the same things in the same order in both models, or nothing here means anything: inputs and labels
    of models that were made of pandas tables are joined by their index.

    Parameters
    ----------
    groups, time, blocks : how inputs belong together, as rows in `compare`.
    folds, bootstraps, permutations : of the held-out scores, the intervals and the nulls.
    sample : the most inputs on which nulls of scores are taken; 5,000 or five a column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> f, g, a = rng.normal(size=(300, 3)), rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    >>> found = compare_models(CanonicalModel(f, g), CanonicalModel(f @ a.T, g @ np.linalg.inv(a)))
    >>> found.promised, round(found.label_r2, 6), found.alignment.g_residual < 1e-6
    (True, 1.0, True)
    """
    for model in (first, second):
        require_kind(model, CanonicalModel, "a model", "um.CanonicalModel(f, g)")
    names = _names(first, second)
    require(
        first.labels == second.labels,
        f"{names[0]} has {first.labels} labels and {names[1]} {second.labels}: give g of the same labels.",
    )
    called = f"f of {names[0]}", f"f of {names[1]}"
    indexes = [first.input_names, second.input_names, index_of(groups)]
    inputs, notes = orders_of(indexes, [*called, "groups"], time or blocks is not None)
    labels, more = orders_of([first.label_names, second.label_names], [f"g of {name}" for name in names])
    second, groups = second.reordered(inputs[1], labels[1]), moved(groups, inputs[2])
    for model, name in zip((first, second), names, strict=True):
        require(model.rank > 0, f"all g of {name} are equal: it predicts one distribution whatever the input.")
    ours, theirs = first.seen(), second.seen()
    paired = pair(
        ours.f, theirs.f, names=called, groups=groups, time=time, blocks=blocks, folds=folds, sample=sample, seed=seed,
    )  # fmt: skip
    biased = first.bias is not None or second.bias is not None
    measures: list[LinearMeasure] = [R2(offset=biased), R2(reverse=True, offset=biased), CCA()]
    scores = evaluate(paired, measures, bootstraps=bootstraps, permutations=permutations)
    alignment = align(ours, theirs, paired.chunk % 2 == 0)
    label_r2 = alignment.maps["labels"].r2(Moments.of(ours.f, theirs.f))
    found, equal = distances(ours, theirs, paired, permutations)
    return ModelComparison(
        names=names,
        violated=THEOREM_1.violated(first, second),
        diversity=(diversity(first, seed), diversity(second, seed)),
        seen=(ours.width, theirs.width),
        inputs=first.inputs,
        alignment=alignment,
        scores=tuple(scores),
        label_r2=float(label_r2[np.isfinite(label_r2)].mean()),
        distances=found,
        equal_logits=equal,
        notes=(*notes.values(), *more.values(), *paired.seen(called)),
    )


def _names(first: CanonicalModel, second: CanonicalModel) -> tuple[str, str]:
    if first.name != second.name:
        return first.name, second.name
    return f"{first.name} (1)", f"{second.name} (2)"


def _linear(y: str, x: str, score: Score | Refusal) -> str:
    """A sentence that can be quoted: how far one representation is a linear map of the other."""
    if isinstance(score, Refusal):
        return f"Whether {y} is a linear map of {x} is not judged: {score.reason}."
    if not score.can_tell:
        return f"That {y} is a linear map of {x} is not shown with {score.rows_shown}: held-out R² {score}."
    degree = "" if score.value >= SAME else " nearly" if score.value >= NEARLY else " only in part"
    degree = " hardly" if score.hardly else degree
    verb = f"is{degree} a" if score.above_chance else f"looks{degree} like a"
    caveat = f" ({score.caveat})" if score.above_chance and score.caveat else ""
    return f"{y} {verb} linear map of {x}{caveat}: held-out R² {score}; {score.rows_shown}."
