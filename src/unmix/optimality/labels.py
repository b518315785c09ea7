"""Cross-entropy on fresh labelled rows: by the network, by Bayes, and at the true inverse."""

from __future__ import annotations

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from unmix.errors import InputError
from unmix.laws import VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.objectives import DIET, CrossEntropy
from unmix.objectives.cross_entropy import Head, cross_entropy
from unmix.optimality.inverse import true_inverse
from unmix.optimality.losses import BATCHES, Losses, best_scale, known
from unmix.processes import ClusterProcess, SectorProcess
from unmix.randomness import stream
from unmix.spaces import Sphere
from unmix.training.result import Fit

ROWS, LOGITS = 512, 1 << 20  # a batch, at most
INTEGRALS = 1024  # a batch, where each density takes a numerical integral


class Labels:
    """What a head tells apart: classes, or the instance labels of each class, which share one law of the latent.

    All is counted by class: `each` is how many labels a class has.
    """

    def __init__(self, process: ClusterProcess | SectorProcess, objective: CrossEntropy) -> None:
        one = torch.ones(process.classes, dtype=torch.float64)
        self.smoothing, self.noise = objective.label_smoothing, 0.0
        self.shares, self.instances = one / process.classes, one
        if isinstance(process, ClusterProcess):
            self.noise, self.instances = process.label_noise, process.class_of.bincount().double()
            self.shares = torch.zeros_like(one).index_add(0, process.class_of, process.probabilities)
        self.each = self.instances if isinstance(objective, DIET) else one

    def noisy(self, posterior: Float64[Tensor, "*n c"]) -> Float64[Tensor, "*n c"]:
        """p(class of the label | z), where a share of the labels is that of a uniformly drawn instance."""
        return (1 - self.noise) * posterior + self.noise * self.instances / self.instances.sum()

    def best(self, posterior: Float64[Tensor, "*n c"]) -> Float64[Tensor, "*n c"]:
        """log q of one label of each class, for the best q: what the target, noisy and smoothed, is drawn from."""
        target = (1 - self.smoothing) * self.noisy(posterior) / self.each
        return (target + self.smoothing / self.each.sum()).log()

    def softmax(self, logits: Float64[Tensor, "n c"]) -> Float64[Tensor, "n c"]:
        """log q of one label of each class, where all labels of a class have one logit."""
        return logits - (logits + self.each.log()).logsumexp(-1, keepdim=True)

    def loss(self, log_q: Float64[Tensor, "n c"], classes: Int64[Tensor, " n"]) -> Float64[Tensor, ""]:
        """−mean_i [(1 − ε) log q(y_i|x_i) + ε mean_k log q(k|x_i)]."""
        own = log_q.gather(-1, classes[:, None]).mean()
        if not self.smoothing:  # then log q may be −∞ where no label is
            return -own
        every = (log_q @ self.each).mean() / self.each.sum()
        return -((1 - self.smoothing) * own + self.smoothing * every)

    def expected(self, best: Float64[Tensor, "n c"], log_q: Float64[Tensor, "n c"]) -> Float64[Tensor, ""]:
        """The loss of log q where labels are drawn from `best`."""
        return -(best.exp() * self.each * log_q).sum(-1).mean()

    @property
    def uninformed(self) -> float:
        """The loss of whoever only knows how frequent labels are."""
        shares, log_q = self.noisy(self.shares), self.best(self.shares)
        drawn = (1 - self.smoothing) * shares + self.smoothing * self.each / self.each.sum()
        return -(drawn @ log_q).item()


def label_losses(fit: Fit, process: ClusterProcess | SectorProcess, objective: CrossEntropy) -> Losses:
    """Of independent rows, whatever the recipe draws them by."""
    labels, generator = Labels(process, objective), stream(fit.seed, "optimality")
    rows = max(2, min(ROWS, LOGITS // process.classes))
    if isinstance(process, ClusterProcess) and _integrates(process):
        rows = max(2, min(rows, INTEGRALS // process.classes))
    batches = [process.sample(rows, generator) for _ in range(BATCHES)]
    head = fit.network.loss
    assert isinstance(head, Head)
    w, beta, told = head.rows().detach(), head.beta.item(), objective.told[-1]
    attained = [
        cross_entropy(fit.embed(b.x), w, getattr(b, told), beta, objective.label_smoothing).item() for b in batches
    ]

    def losses(tables: list[Tensor]) -> Tensor:  # an instance label i is one of class i mod |C|
        parts = zip(tables, batches, strict=True)
        return torch.stack([labels.loss(log_q, getattr(b, told) % process.classes) for log_q, b in parts])

    floor: Tensor | str
    try:
        log_q = [labels.best(posterior(process, labels.shares, b.z.double())) for b in batches]
        floor = known(losses(log_q))
    except InputError as refused:
        log_q, floor = [], str(refused).rstrip(".")

    def at_inverse() -> Tensor | str:
        inverse, directions = true_inverse(process, fit.model), directions_of(process, objective)
        if isinstance(inverse, str) or isinstance(directions, str):
            return inverse if isinstance(inverse, str) else str(directions)
        at_scale_one = [inverse.place(b.z.double()) @ directions.mT for b in batches]

        def expected(c: float) -> float:
            pairs = zip(log_q, at_scale_one, strict=True)
            return sum(labels.expected(best, labels.softmax(c * one)).item() for best, one in pairs)

        fixed = objective.unit_rows and not objective.learn_temperature
        c = inverse.scale / objective.temperature if fixed and inverse.scale else best_scale(expected)
        return losses([labels.softmax(c * one) for one in at_scale_one])

    return Losses(torch.tensor(attained).double(), floor, at_inverse(), labels.uninformed, f"{objective}")


def posterior(
    process: ClusterProcess | SectorProcess, shares: Float64[Tensor, " c"], z: Float64[Tensor, "n d"]
) -> Float64[Tensor, "n c"]:
    """p(class | z), before label noise."""
    if isinstance(process, SectorProcess):
        along = z @ process.directions.mT
        if process.sharpness is None:
            return torch.nn.functional.one_hot(along.argmax(-1), process.classes).double()
        return (process.sharpness * along).softmax(-1)
    n, c = len(z), process.classes
    around = process.vectors.repeat(n, 1)
    given = process.conditional.log_prob(process.space, z.repeat_interleave(c, 0), around)
    return (given.view(n, c) + shares.log()).softmax(-1)


def directions_of(process: ClusterProcess | SectorProcess, objective: CrossEntropy) -> Float64[Tensor, "c d"] | str:
    """Along which the rows of the best head lie if f(x) is the latent; or why that is not known."""
    if isinstance(process, SectorProcess):
        plain = process.sharpness is not None and not objective.label_smoothing
        return (
            process.directions if plain else "labels that the latent decides, or smoothed ones, have another best head"
        )
    plain = process.uniform_classes and not (process.label_noise or objective.label_smoothing)
    if plain and isinstance(process.conditional, VonMisesFisher) and isinstance(process.space, Sphere):
        return process.vectors / process.space.radius
    return "the best head is only known for von Mises-Fisher clusters, even classes and labels without noise"


def _integrates(process: ClusterProcess) -> bool:
    return isinstance(process.space, Sphere) and isinstance(process.conditional, AdditiveLaw)
