"""What theory promises of the model that is trained, what it would of the model as described, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unmix.indeterminacy import AFFINE, LADDER, Indeterminacy
from unmix.measures import Recovery
from unmix.measures.digits import number
from unmix.measures.ladder import Extent, Losses
from unmix.measures.rows import as_matrix
from unmix.measures.truth import truth_door
from unmix.model import Model
from unmix.processes import Process
from unmix.theory import Guarantee, guarantee
from unmix.training import Recipe


@dataclass(frozen=True)
class Promise:
    """The guarantee of what is trained, beside that of what was described.

    Attributes
    ----------
    model : what the recipe trains.
    trained : what theory promises of it.
    described : what it promises of the model as described; None where that is the same.
    """

    model: Model
    trained: Guarantee
    described: Guarantee | None = None

    @property
    def summary(self) -> tuple[str, ...]:
        """What is promised, in a sentence or two each."""
        if self.described is None:
            return (self.trained.summary,)
        return (
            f"What the recipe trains is not the model as described but {self.model.objective}. {self.trained.summary}",
            f"Of the model as described, which is not trained: {self.described.summary}",
        )

    def __str__(self) -> str:
        first, *rest = self.summary
        marks = str(self.trained).removeprefix(self.trained.summary)
        return "\n".join([first + marks, *rest])

    @property
    def shown(self) -> Indeterminacy:
        """The smallest class of the ladder that contains what is promised, for a picture; affine if nothing is."""
        found = self.trained.promise or (self.described.promise if self.described else None)
        return next(c for c in LADDER if (found or AFFINE) <= c)

    def outcome(self, found: Recovery, embedding: Any, truth: Any) -> str:
        """Whether the promise of what is trained is kept; and, apart from it, whether that of the described would be.

        Parameters
        ----------
        found : the recovery of the truth from the embedding.
        """
        text = "Nothing is promised of what is trained, so no promise is kept or broken."
        if self.trained.promise is not None:
            near, scores = _reached(self.trained.promise, found, embedding, truth)
            condition = " and ".join(a.statement for a in self.trained.conditions)
            on = f", which is made on the condition that {condition}," if condition else ""
            text = f"The promise{on} is {'kept' if near else 'not met yet'}: {scores}."
            if not near:
                text += " It speaks of the optimum: train longer, or with larger batches."
        if self.described is not None and self.described.promise is not None:
            near, scores = _reached(self.described.promise, found, embedding, truth)
            lies = "lies within" if near else "does not lie within"
            text += f" The outcome {lies} what would be promised of the model as described: {scores}."
        return text

    def as_dict(self) -> dict[str, Any]:
        """What is promised, in words, for JSON."""
        described = self.described.summary if self.described else None
        return {"trained": self.trained.summary, "described": described}


def promised(process: Process, model: Model, recipe: Recipe) -> Promise:
    """Ask theory about the model as the recipe trains it, and about the model as described.

    Examples
    --------
    >>> import unmix as um
    >>> process = um.PairProcess(um.Box(3), um.Uniform(), um.Laplace(0.05), um.mixings.MLP())
    >>> model = um.Model(objective=um.InfoNCE(um.Lp(1)), output=um.outputs.Box())
    >>> found = promised(process, model, um.recipes.suited(process, model))  # negatives through a wider kernel
    >>> found.trained.promise is None, str(found.described.promise)
    (True, 'permutation with one common scale + offset')
    """
    actual = recipe.trained(model)
    trained, described = guarantee(process, actual), guarantee(process, model)
    same = (trained.theorem, trained.promise) == (described.theorem, described.promise)
    return Promise(actual, trained, None if same else described)


def _reached(promise: Indeterminacy, found: Recovery, embedding: Any, truth: Any) -> tuple[bool, str]:
    """Whether a class of maps explains nearly everything, by the rule of the ladder, and the numbers that say so."""
    if len(found.kept) < found.width:
        return False, f"the class is {promise}, and an output of the encoder is constant"
    losses = Losses(truth_door(as_matrix(embedding, "the embedding"), as_matrix(truth, "the truth")).folds)
    complete = found.affine.can_tell and found.ladder.extent is Extent.COMPLETE
    lost = f"maps of the class {promise} lose at most {number(max(losses.of(promise), 0.0))} in any direction"
    return complete and losses.within(
        promise, found.tolerance
    ), f"{lost} beside affine maps, whose R² is {found.affine}"
