"""InfoNCE on fresh pairs: by the network, by Bayes, and at the true inverse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from unmix.errors import InputError
from unmix.laws import Normal, Uniform, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.objectives import InfoNCE
from unmix.optimality.inverse import Inverse, true_inverse
from unmix.optimality.losses import BATCHES, Losses, best_scale, known
from unmix.processes import PairProcess
from unmix.randomness import stream
from unmix.similarities import Dot
from unmix.spaces import Sphere
from unmix.training.result import Fit

ANCHORS, LOGITS = 128, 1 << 18  # a batch, at most
INTEGRALS = 2048  # a batch, where each density takes a numerical integral
LARGEST = 1e300  # in the place of infinity


class Critic(Protocol):
    """What rates candidates for an anchor: a similarity, or Bayes."""

    def rows(self, a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]: ...
    def matrix(self, a: Float[Tensor, "m d"], b: Float[Tensor, "n d"]) -> Float[Tensor, "m n"]: ...


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
    groups, anchors = -(-ANCHORS // size), max(1, min(size, ANCHORS, LOGITS // size))  # enough, also of small groups
    if isinstance(process.space, Sphere) and isinstance(process.conditional, AdditiveLaw):
        groups, anchors = 1, max(1, min(anchors, INTEGRALS // size))
    pairs = process.sample(BATCHES * groups * size, stream(fit.seed, "optimality"))

    def rated(a: Tensor, b: Tensor, critic: Critic) -> Float64[Tensor, "k g m n"]:
        sides = ((a, b), (b, a)) if objective.two_sided else ((a, b),)
        parts = [zip(x.split(size), y.split(size), strict=True) for x, y in sides]
        found = [torch.stack([logits(x, y, critic, anchors) for x, y in side]) for side in parts]
        return torch.cat([each.view(BATCHES, groups, anchors, size) for each in found], 1)

    def bayes() -> Tensor | str:
        if objective.two_sided and not exchangeable(process):
            return "of a two-sided loss it takes the law of the second view, which unmix does not have here"
        try:
            return rated(pairs.z, pairs.z_view, Bayes(process))
        except InputError as refused:
            return str(refused).rstrip(".")

    def at_inverse() -> Tensor | str:
        inverse, kernel = _inverse(process, fit.model, objective), objective.similarity
        if isinstance(inverse, str):
            return inverse
        at_scale_one = rated(inverse.place(pairs.z), inverse.place(pairs.z_view), kernel)
        if inverse.scale is not None and not objective.learn_temperature:
            return losses_of(inverse.scale**kernel.degree / objective.temperature * at_scale_one)
        if isinstance(best, str):
            return f"its best scale takes the floor, and {best}"
        posterior = best.clamp(max=LARGEST).softmax(-1)
        own = (posterior * at_scale_one).sum(-1)
        return losses_of(
            best_scale(lambda c: ((c * at_scale_one).logsumexp(-1) - c * own).mean().item()) * at_scale_one
        )

    best, trained = bayes(), fit.network.loss
    assert isinstance(trained.log_temperature, Tensor)
    attained = rated(fit.embed(pairs.x), fit.embed(pairs.x_view), objective.similarity)
    wide = ", without the wider kernel of training" * objective.widen
    return Losses(
        losses_of(attained / trained.log_temperature.exp().item()),
        best if isinstance(best, str) else known(losses_of(best)),
        at_inverse(),
        math.log(size),
        f"InfoNCE with {size - 1:,} negative{'s' * (size > 2)} drawn at random{wide}",
    )


def logits(a: Float[Tensor, "n d"], b: Float[Tensor, "n d"], critic: Critic, anchors: int) -> Float64[Tensor, "m n"]:
    """Of the first rows of a with all rows of a; an anchor is never its own negative, its positive takes that place."""
    own, found = torch.arange(anchors), critic.matrix(a[:anchors], a).double()
    found[own, own] = critic.rows(a[:anchors], b[:anchors]).double()
    return found


def losses_of(logits: Float64[Tensor, "k g m n"]) -> Float64[Tensor, " k"]:
    """−mean_i log( e^{s(i, i⁺)} / (e^{s(i, i⁺)} + Σ_{j≠i} e^{s(i, j)}) ), 0 where only the positive is possible."""
    positive = logits.diagonal(dim1=-2, dim2=-1)
    each = torch.where(positive == math.inf, 0.0, logits.logsumexp(-1) - positive)
    return each.mean((1, 2))


def exchangeable(process: PairProcess) -> bool:
    """Whether (z, z̃) and (z̃, z) are known to have one law: then either view is drawn from the marginal."""
    turns = isinstance(process.conditional, (VonMisesFisher, Normal))  # the law only depends on the angle
    alike = isinstance(process.conditional, Uniform) or (isinstance(process.space, Sphere) and turns)
    return isinstance(process.marginal, Uniform) and alike


def _inverse(process: PairProcess, model: Model, objective: InfoNCE) -> Inverse | str:
    centred = isinstance(process.space, Sphere) or not isinstance(objective.similarity, Dot)
    return true_inverse(process, model) if centred else "a dot product depends on the origin, which the encoder chooses"
