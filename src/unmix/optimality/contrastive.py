"""InfoNCE on fresh pairs: by the network, by Bayes, and at the true inverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from unmix.errors import InputError
from unmix.laws import Normal, Uniform, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.objectives import InfoNCE
from unmix.optimality.inverse import true_inverse
from unmix.optimality.losses import BATCHES, Losses, at_best_scale, known
from unmix.processes import PairProcess, Pairs
from unmix.randomness import stream
from unmix.spaces import Sphere
from unmix.training.result import Fit

ANCHORS = 128  # a batch, each against all its negatives
INTEGRALS = 2048  # a batch, where each density takes a numerical integral


class Logits(NamedTuple):
    """Of m anchors with their positives, and with all n anchors of the batch, −∞ with themselves."""

    positive: Float[Tensor, " m"]
    others: Float[Tensor, "m n"]

    def loss(self, scale: float) -> Float64[Tensor, ""]:
        """−mean_i log( e^{s(i, i⁺)} / (e^{s(i, i⁺)} + Σ_{j≠i} e^{s(i, j)}) )."""
        every = scale * torch.cat([self.positive[:, None], self.others], 1).double()
        return (every.logsumexp(1) - every[:, 0]).mean()


Seen = Callable[[Pairs], tuple[Tensor, Tensor]]  # what a critic is shown of both views of a batch


class Critic(Protocol):
    """What rates candidates for an anchor: a similarity, or Bayes."""

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]: ...
    def matrix(self, a: Float[Tensor, "m d"], b: Float[Tensor, "n d"]) -> Float[Tensor, "m n"]: ...


Measured = Callable[[Seen, Critic], Callable[[float], Tensor]]  # the losses of a critic by the scale of its logits


@dataclass(frozen=True)
class Bayes:
    """log p(z̃|z) − log p(z̃), p the marginal, which negatives are drawn from: the best critic of all."""

    process: PairProcess

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        given = self.process.conditional.log_prob(self.process.space, b.double(), a.double())
        return given - self._marginal(b)

    def matrix(self, a: Float[Tensor, "m d"], b: Float[Tensor, "n d"]) -> Float[Tensor, "m n"]:
        m, n = len(a), len(b)
        every = b.double().repeat(m, 1), a.double().repeat_interleave(n, 0)
        return self.process.conditional.log_prob(self.process.space, *every).view(m, n) - self._marginal(b)

    def _marginal(self, b: Tensor) -> Tensor:
        space = self.process.space
        return self.process.marginal.log_prob(space, b.double(), space.origin.expand(len(b), -1))


def contrastive_losses(fit: Fit, process: PairProcess, objective: InfoNCE) -> Losses:
    """Of independent batches, with as many negatives as in training, through the model's own kernel."""
    size = objective.group_size or fit.recipe.batch
    generator = stream(fit.seed, "optimality")
    batches = [process.sample(size, generator) for _ in range(BATCHES)]
    anchors = min(size, ANCHORS)
    if isinstance(process.space, Sphere) and isinstance(process.conditional, AdditiveLaw):
        anchors = max(1, min(anchors, INTEGRALS // size))

    def losses(seen: Seen, critic: Critic) -> Callable[[float], Tensor]:
        views = [seen(batch) for batch in batches]
        sides = [views, [(b, a) for a, b in views]] if objective.two_sided else [views]
        found = [[logits(a, b, critic, anchors) for a, b in side] for side in sides]
        return lambda scale: torch.stack([torch.stack([one.loss(scale) for one in side]) for side in found]).mean(0)

    trained: Any = fit.network.loss
    attained = losses(lambda batch: (fit.embed(batch.x), fit.embed(batch.x_view)), objective.similarity)
    return Losses(
        attained(1 / trained.log_temperature.exp().item()),
        _floor(process, objective, losses),
        _at_inverse(process, fit, objective, losses),
        math.log(size),
        f"InfoNCE with {size - 1:,} negatives" + ", without the wider kernel of training" * objective.widen,
    )


def logits(a: Float[Tensor, "n d"], b: Float[Tensor, "n d"], critic: Critic, anchors: int) -> Logits:
    """Of the first rows of a, with their positives in b and the other rows of a as negatives."""
    own, others = torch.arange(anchors), critic.matrix(a[:anchors], a)
    others[own, own] = -math.inf
    return Logits(critic.rows(a[:anchors], b[:anchors]), others)


def _floor(process: PairProcess, objective: InfoNCE, losses: Measured) -> Tensor | str:
    if objective.two_sided and not exchangeable(process):
        return "of a two-sided loss it takes the law of the second view, which has no closed form here"
    try:
        return known(losses(lambda batch: (batch.z, batch.z_view), Bayes(process))(1.0))
    except InputError as refused:
        return str(refused).rstrip(".")


def _at_inverse(process: PairProcess, fit: Fit, objective: InfoNCE, losses: Measured) -> Tensor | str:
    inverse = true_inverse(process, fit.model)
    if isinstance(inverse, str):
        return inverse
    place, kernel = inverse.place, objective.similarity
    found = losses(lambda batch: (place(batch.z), place(batch.z_view)), kernel)
    if inverse.scale is None or objective.learn_temperature:
        return at_best_scale(found)
    return found(inverse.scale**kernel.degree / objective.temperature)


def exchangeable(process: PairProcess) -> bool:
    """Whether (z, z̃) and (z̃, z) are known to have one law: then either view is drawn from the marginal."""
    turns = isinstance(process.conditional, (VonMisesFisher, Normal))  # the law only depends on the angle
    alike = isinstance(process.conditional, Uniform) or (isinstance(process.space, Sphere) and turns)
    return isinstance(process.marginal, Uniform) and alike
