"""InfoNCE on fresh pairs: by the network, by Bayes, and at the true inverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import InputError
from unmix.laws import Normal, Uniform, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.objectives import InfoNCE
from unmix.optimality.inverse import true_inverse
from unmix.optimality.losses import BATCHES, Losses, at_best_scale
from unmix.processes import PairProcess, Pairs
from unmix.randomness import stream
from unmix.spaces import Sphere
from unmix.training.result import Fit

ANCHORS = 128  # a batch, each against all its negatives
INTEGRALS = 3072  # a batch, where each density takes a numerical integral
F64 = torch.float64


class Logits(NamedTuple):
    """Of m anchors with their positives, and with all n anchors of the batch, −∞ with themselves."""

    positive: Float[Tensor, " m"]
    others: Float[Tensor, "m n"]

    def loss(self, scale: float) -> float:
        """−mean_i log( e^{s(i, i⁺)} / (e^{s(i, i⁺)} + Σ_{j≠i} e^{s(i, j)}) )."""
        every = scale * torch.cat([self.positive[:, None], self.others], 1).double()
        return (every.logsumexp(1) - every[:, 0]).mean().item()


Critic = Callable[[Tensor, Tensor], Tensor]  # anchors (m, d) and candidates (n, d) to logits (m, n)
Seen = Callable[[Pairs], tuple[Tensor, Tensor]]  # what a critic is shown of both views of a batch
Measured = Callable[[Seen, Critic], Callable[[float], Tensor]]  # the losses of a critic by the scale of its logits


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
        return lambda scale: torch.tensor([[one.loss(scale) for one in side] for side in found], dtype=F64).mean(0)

    trained: Any = fit.network.loss
    attained = losses(lambda batch: (fit.embed(batch.x), fit.embed(batch.x_view)), objective.similarity.matrix)
    return Losses(
        attained(1 / trained.log_temperature.exp().item()),
        _floor(process, objective, losses),
        _at_inverse(process, fit, objective, losses),
        math.log(size),
        f"InfoNCE with {size - 1:,} negatives" + ", without the wider kernel of training" * objective.widen,
    )


def logits(a: Float[Tensor, "n d"], b: Float[Tensor, "n d"], critic: Critic, anchors: int) -> Logits:
    """Of the first rows of a, with their positives in b and the other rows of a as negatives."""
    rows = torch.arange(anchors)
    positive = torch.cat([critic(a[i : i + 1], b[i : i + 1]) for i in rows.tolist()])[:, 0]
    others = critic(a[:anchors], a)
    others[rows, rows] = -math.inf
    return Logits(positive, others)


def _floor(process: PairProcess, objective: InfoNCE, losses: Measured) -> Tensor | str:
    """log p(z̃|z) − log p(z̃), p the marginal, which negatives are drawn from, is the best critic of all."""
    if objective.two_sided and not exchangeable(process):
        return "of a two-sided loss it takes the law of the second view, which has no closed form here"
    space, centre = process.space, process.space.origin

    def critic(a: Tensor, b: Tensor) -> Tensor:
        m, n = len(a), len(b)
        pairs = b.repeat(m, 1), a.repeat_interleave(n, 0)
        given = process.conditional.log_prob(space, *(side.double() for side in pairs)).view(m, n)
        return given - process.marginal.log_prob(space, b.double(), centre.expand(n, -1))

    try:
        return losses(lambda batch: (batch.z, batch.z_view), critic)(1.0)
    except InputError as refused:
        return str(refused)


def _at_inverse(process: PairProcess, fit: Fit, objective: InfoNCE, losses: Measured) -> Tensor | str:
    inverse = true_inverse(process, fit.model)
    if isinstance(inverse, str):
        return inverse
    place, kernel = inverse.place, objective.similarity
    found = losses(lambda batch: (place(batch.z), place(batch.z_view)), kernel.matrix)
    if inverse.scale is None or objective.learn_temperature:
        return at_best_scale(found)
    return found(inverse.scale**kernel.degree / objective.temperature)


def exchangeable(process: PairProcess) -> bool:
    """Whether (z, z̃) and (z̃, z) are known to have one law: then either view is drawn from the marginal."""
    turns = isinstance(process.conditional, (VonMisesFisher, Normal))  # the law only depends on the angle
    alike = isinstance(process.conditional, Uniform) or (isinstance(process.space, Sphere) and turns)
    return isinstance(process.marginal, Uniform) and alike
