"""Whether a fit is as good as its loss lets it be: "not optimised" and "not identifiable" told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float64
from torch import Tensor

from unmix.errors import require
from unmix.measures.digits import number
from unmix.objectives import DIET, CrossEntropy, InfoNCE, Regression
from unmix.optimality.contrastive import contrastive_losses
from unmix.optimality.inverse import Inverse, true_inverse
from unmix.optimality.labels import label_losses
from unmix.optimality.losses import BATCHES, Loss, Losses
from unmix.processes import ClusterProcess, PairProcess, SectorProcess
from unmix.randomness import stream

if TYPE_CHECKING:
    from unmix.training.result import Fit

NEARLY = 0.01  # of what there is to learn
SURE = 3.0  # standard errors
LOOKED_AT = 2048  # latents, for their variance


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
    uninformed : the loss of whoever does not look at the observation; None where it is not known.
    unknown : why the floor or the loss of the true inverse is not known, a sentence each.
    """

    told: str
    attained: Loss
    floor: Loss | None
    at_inverse: Loss | None
    above_floor: Loss | None
    above_inverse: Loss | None
    uninformed: float | None
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, losses: Losses) -> Optimality:
        floor, inverse = losses.floor, losses.at_inverse
        require(bool(losses.attained.isfinite().all()), "the network's loss is not finite: train it anew.")
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
        if self.at_inverse is not None and self.above_inverse is not None:
            return self._against_inverse(self.above_inverse, self.at_inverse)
        if self.floor is not None and self.above_floor is not None:
            placed = self._placed(self.above_floor, self.floor)
            by = _in_words(self.above_floor)
            if placed is None:
                return f"Whether it is optimised cannot be told: the loss is {by} above the floor."
            if placed:
                return f"The loss is {by} above the floor: not optimised, or the model cannot express the law."
            return f"Optimised: the loss is the floor, to {by}. What is not recovered hardly changes the loss."
        return "Whether it is optimised is not known."

    def _against_inverse(self, gap: Loss, inverse: Loss) -> str:
        placed, by = self._placed(gap, inverse), _in_words(gap)
        if placed is None:
            return f"Whether it is optimised cannot be told: the loss differs from that of the true inverse by {by}."
        if placed > 0:
            return f"Not optimised: the loss is {by} above that of the true inverse; train longer."
        if placed < 0:
            rest = f" It is {_in_words(self.above_floor)} above the floor." if self.above_floor else ""
            return f"The loss is {by} below that of the true inverse, so the latents are not its optimum.{rest}"
        if self.uninformed is not None and inverse.value < NEARLY * self.uninformed:
            return (
                "Saturated: at the true inverse too, hardly a draw is confused with others, so the loss tells little."
            )
        return (
            f"Optimised: the loss is that of the true inverse, to {by}. What is not recovered hardly changes the loss."
        )

    def _placed(self, gap: Loss, best: Loss) -> int | None:
        """1 for above, −1 for below, 0 for as good as there; None if the error is too large to tell."""
        nearly = NEARLY * max((self.uninformed or 0.0) - best.value, 0.0)
        low, high = gap.value - SURE * gap.error, gap.value + SURE * gap.error
        if low > nearly or high < -nearly:
            return 1 if gap.value > 0 else -1
        return 0 if -nearly <= low <= high <= nearly else None

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
        known = (
            ("floor (Bayes)", self.floor),
            ("at the true inverse", self.at_inverse),
            ("uninformed", self.uninformed),
        )
        shown = [
            f"{name} {loss if isinstance(loss, Loss) else number(loss)}" for name, loss in known if loss is not None
        ]
        return " ".join(["; ".join([f"{self.told}: {self.attained}", *shown]) + ".", *self.unknown, self.verdict])


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
    whole = getattr(fit.network.loss, "among", None) is None
    # Exactly these types: what a subclass draws, or minimises, is not known here.
    if type(process) is PairProcess and type(objective) is InfoNCE:
        return contrastive_losses(fit, process, objective)
    exact = type(process) in (ClusterProcess, SectorProcess) and type(objective) in (CrossEntropy, DIET)
    if isinstance(process, ClusterProcess | SectorProcess) and isinstance(objective, CrossEntropy) and exact and whole:
        return label_losses(fit, process, objective)
    measured = _measured(fit)
    if type(objective) is Regression:
        return Losses(measured, *_regressed(fit), str(objective))
    why = f"it takes densities that unmix knows, not of {type(process).__name__}, {objective}"
    why = why if whole else "the head has the rows of some labels only, until the run is finished"
    return Losses(measured, why, why, None, str(objective))


def _regressed(fit: Fit) -> tuple[Float64[Tensor, " k"] | str, Float64[Tensor, " k"] | str, float]:
    """Of the squared error: 0 where x tells z, and what the mean of z has."""
    inverse, nothing = true_inverse(fit.process, fit.model), torch.zeros(BATCHES, dtype=torch.float64)
    spread = fit.process.sample(LOOKED_AT, stream(fit.seed, "optimality")).z.var(0).mean().item()
    if not fit.process.injectivity.holds:
        return ("the mixing is not known to be injective",) * 2 + (spread,)
    fits = isinstance(inverse, Inverse) and inverse.scale in (None, 1.0)
    return nothing, nothing if fits else "the output cannot be the latents themselves", spread


def _measured(fit: Fit) -> Float64[Tensor, " k"]:
    """The loss on fresh batches, by the statistics of training where the encoder has any."""
    generator, before = stream(fit.seed, "optimality"), fit.network.training
    among = getattr(fit.network.loss, "among", None)  # of a head that has the rows of some labels only
    options = {} if among is None else {"among": among}
    fit.network.eval()
    try:
        with torch.no_grad():
            drawn = (fit.process.sample(fit.recipe.batch, generator, **options) for _ in range(BATCHES))
            return torch.stack([fit.network.training_loss(batch) for batch in drawn]).double()
    finally:
        fit.network.train(before)


def _in_words(gap: Loss) -> str:
    return f"{number(abs(gap.value))} ± {number(gap.error)}"
