"""Whether a fit is as good as its loss lets it be: "not optimised" and "not identifiable" told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float64
from torch import Tensor

from unmix.encoders.outputs import Free
from unmix.measures.digits import number
from unmix.objectives import CrossEntropy, InfoNCE, Regression
from unmix.optimality.contrastive import contrastive_losses
from unmix.optimality.labels import label_losses
from unmix.optimality.losses import BATCHES, Loss, Losses
from unmix.processes import ClusterProcess, PairProcess, SectorProcess
from unmix.randomness import stream

if TYPE_CHECKING:
    from unmix.training.result import Fit

NEARLY = 0.01  # of what there is to learn
SURE = 3.0  # standard errors


@dataclass(frozen=True)
class Optimality:
    """The loss that a fit attained, between the lowest that there can be and the loss of knowing nothing.

    All are estimated on the same fresh, independent batches, so their differences are surer than they are.

    Attributes
    ----------
    told : what loss it is, in words.
    attained : of the network as it is.
    floor : the Bayes value, which no network of any kind is below: log p(y|x) − log π(y), with π the law that negatives
        are drawn from, in the place of s(f(x), g(y))/τ. None where it is not known.
    at_inverse : of the true inverse h = c·g⁻¹, with the scale c of the model, or the best one where the scale is free;
        None where it is not known. Above the floor where the model cannot express the law.
    above_floor, above_inverse : attained, less the floor and less the loss of the true inverse.
    uninformed : the loss of whoever does not look at the observation.
    unknown : why the floor or the loss of the true inverse is not known, a sentence each.
    """

    told: str
    attained: Loss
    floor: Loss | None
    at_inverse: Loss | None
    above_floor: Loss | None
    above_inverse: Loss | None
    uninformed: float
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, losses: Losses) -> Optimality:
        floor, inverse = losses.floor, losses.at_inverse
        told = ("The floor is not known: {}.", "The loss of the true inverse is not known: {}.")
        return cls(
            losses.told,
            Loss.of(losses.attained),
            None if isinstance(floor, str) else Loss.of(floor),
            None if isinstance(inverse, str) else Loss.of(inverse),
            None if isinstance(floor, str) else Loss.of(losses.attained - floor),
            None if isinstance(inverse, str) else Loss.of(losses.attained - inverse),
            losses.uninformed,
            tuple(text.format(why) for text, why in zip(told, (floor, inverse), strict=True) if isinstance(why, str)),
        )

    @property
    def verdict(self) -> str:
        """Whether training is what is missing, in a sentence."""
        if self.above_inverse is not None and self.at_inverse is not None:
            gap, best, of = self.above_inverse, self.at_inverse.value, "the true inverse"
        elif self.above_floor is not None and self.floor is not None:
            gap, best, of = self.above_floor, self.floor.value, "the floor"
        else:
            return "Whether it is optimised is not known."
        sure, share = abs(gap.value) > SURE * gap.error, gap.value / max(self.uninformed - best, 1e-12)
        by = f"{number(abs(gap.value))} ± {number(gap.error)}"
        if sure and share > NEARLY:
            return f"Not optimised: the loss is {by} above {of}. Train longer, or with larger batches."
        if sure and share < -NEARLY:
            return (
                f"Optimised beyond the latents: the loss is {by} below the true inverse, so the latents are not the "
                "optimum of this loss, and longer training does not lead to them."
            )
        return f"Optimised: the loss is that of {of} to {by}. What is not recovered, this loss hardly asks for."

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        parts = {
            name: getattr(self, name) for name in ("attained", "floor", "at_inverse", "above_floor", "above_inverse")
        }
        found = {name: part and part.as_dict() for name, part in parts.items()}
        return found | {
            "uninformed": self.uninformed,
            "told": self.told,
            "unknown": list(self.unknown),
            "verdict": self.verdict,
        }

    def __str__(self) -> str:
        known = ((self.floor, "lowest of all (Bayes)"), (self.at_inverse, "true inverse"))
        parts = [f"{self.told}: {self.attained}", *(f"{name} {loss}" for loss, name in known if loss is not None)]
        return " ".join(
            ["; ".join([*parts, f"knowing nothing {number(self.uninformed)}"]) + ".", *self.unknown, self.verdict]
        )


def optimality(fit: Fit) -> Optimality:
    """How low the loss of a fit is, and how low it could be; `Fit.optimality` keeps it.

    Examples
    --------
    >>> import unmix as um
    >>> world = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=10))
    >>> model = um.Model(um.encoders.MLP((16,)), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
    >>> found = um.fit(world, model, um.Recipe(steps=100, batch=64, rate=1e-2), progress=False).optimality
    >>> abs(found.floor.value - found.at_inverse.value) < 1e-4  # the model can express the law
    True
    """
    return Optimality.of(_losses(fit))


def _losses(fit: Fit) -> Losses:
    process, objective = fit.process, fit.recipe.trained(fit.model).objective
    complete = getattr(fit.network.loss, "among", None) is None
    if isinstance(process, PairProcess) and isinstance(objective, InfoNCE):
        return contrastive_losses(fit, process, objective)
    if isinstance(process, ClusterProcess | SectorProcess) and isinstance(objective, CrossEntropy) and complete:
        return label_losses(fit, process, objective)
    measured, nothing = _measured(fit), f"a {type(process).__name__} and {objective} have none that unmix knows"
    if isinstance(objective, Regression) and process.injectivity.holds:
        spread = process.sample(2048, stream(fit.seed, "optimality")).z.var(0).mean().item()
        zero = torch.zeros_like(measured)  # x tells z
        return Losses(measured, zero, zero if isinstance(fit.model.output, Free) else nothing, spread, str(objective))
    nothing = nothing if complete else "the head has the rows of some labels only, until the run is finished"
    return Losses(measured, nothing, nothing, math.nan, str(objective))


def _measured(fit: Fit) -> Float64[Tensor, " k"]:
    """The loss on fresh batches, by the statistics of training where the encoder has any."""
    generator, before = stream(fit.seed, "optimality"), fit.network.training
    fit.network.eval()
    try:
        with torch.no_grad():
            drawn = (fit.process.sample(fit.recipe.batch, generator) for _ in range(BATCHES))
            return torch.stack([fit.network.training_loss(batch) for batch in drawn]).double()
    finally:
        fit.network.train(before)
