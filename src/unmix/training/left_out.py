"""Labels that no step draws: once an encoder is trained on some labels, the rows of the others follow from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import normalize

from unmix.model import Network
from unmix.objectives.cross_entropy import Head
from unmix.processes import ClusterProcess

DRAWS = 500  # of each label left out: the noise of its row falls as 1 / DRAWS
TRAINED_DRAWS = 256  # of each trained label, for expectations; their noise is shared by the rows of a class
MOST_STEPS = 50  # of Newton; one is enough where a label of the same class is trained
BLOCK = 2048  # labels, or outputs, that are taken at a time


def cut(network: Network, among: Int64[Tensor, " n"]) -> None:
    """Leave the rows of these labels alone in the head, which then says so (`Head.among`)."""
    head = network.loss
    assert isinstance(head, Head)  # or `EvenLabels` would have refused the objective
    head.weight, head.among = nn.Parameter(head.weight.detach()[among]), among


def complete(
    network: Network,
    process: ClusterProcess,
    generator: torch.Generator,
    shown: Callable[[tuple[Tensor, ...]], Iterable[Tensor]],
    stop: Callable[[], bool],
) -> None:
    """Give a head that was trained on some labels the rows of all of them (`rows_from_means`).

    `shown` hands on blocks of labels and shows how far they are. Once asked to `stop`, all is left as it was.
    """
    head = network.loss
    assert isinstance(head, Head)
    among, beta = head.among, float(head.beta.detach())
    assert among is not None
    trained = head.rows().detach()
    left = torch.ones(process.labels, dtype=torch.bool).index_fill(0, among, False).nonzero()[:, 0]
    blocks = shown(left.split(BLOCK))  # from here on it is seen that something goes on

    shares = process.probabilities / process.probabilities[among].sum()
    drawn = process.sample_labels(among.repeat_interleave(TRAINED_DRAWS), generator).x
    weights = (shares[among] / TRAINED_DRAWS).float().repeat_interleave(TRAINED_DRAWS)
    seen = Seen.of(beta * network.embed(drawn), weights, trained)
    at_trained = seen.moments(trained)

    weight = trained.new_empty(process.labels, trained.shape[1])
    weight[among] = head.weight.detach()
    uncertain = 0
    for block in blocks:
        if stop():
            return
        means = beta * torch.cat([_mean_outputs(network, process, part, generator) for part in block.split(128)])
        found = rows_from_means(means, shares[block].float(), trained, seen, at_trained, head.objective.unit_rows)
        weight[block] = found[0]
        uncertain += found[1]
    head.weight, head.among = nn.Parameter(weight), None
    if uncertain:
        warnings.warn(
            f"the rows of {uncertain} labels that were left out are uncertain, because hardly a trained label is like "
            "them: train more labels, with um.recipes.EvenLabels.",
            stacklevel=2,
        )


def _mean_outputs(network: Network, process: ClusterProcess, labels: Tensor, generator: torch.Generator) -> Tensor:
    drawn = process.sample_labels(labels.repeat_interleave(DRAWS), generator).x
    return network.embed(drawn).view(len(labels), DRAWS, -1).mean(1)


class Moments(NamedTuple):
    """E r, E r f, E r f fᵀ and Σ r² of n rows, (n,), (n, d), (n, d, d) and (n,), with the weights in r for the last."""

    mass: Tensor
    first: Tensor
    second: Tensor
    squares: Tensor

    @property
    def effective(self) -> Tensor:
        """How many outputs an expectation rests on, (Σ r)² / Σ r²."""
        return self.mass.square() / self.squares

    def of(self, which: Tensor) -> Moments:
        return Moments(*(part[which] for part in self))


class Seen(NamedTuple):
    """Outputs f of rows of the trained labels, β in them, what each weighs, and log Z(x) = log Σ_j exp⟨w_j, f(x)⟩."""

    outputs: Float[Tensor, "s d"]
    weights: Float[Tensor, " s"]
    log_partition: Float[Tensor, " s"]

    @classmethod
    def of(cls, outputs: Float[Tensor, "s d"], weights: Float[Tensor, " s"], rows: Float[Tensor, "n d"]) -> Seen:
        return cls(outputs, weights, torch.cat([(part @ rows.mT).logsumexp(1) for part in outputs.split(BLOCK)]))

    def moments(self, rows: Float[Tensor, "m d"]) -> Moments:
        """Of r(x) = exp⟨w, f(x)⟩ / Z(x), for each of the rows w."""
        m, d = rows.shape
        found = Moments(*(rows.new_zeros(m, *shape) for shape in ((), (d,), (d, d), ())))
        for f, weights, log_partition in zip(*(part.split(BLOCK) for part in self), strict=True):
            products = (f[:, :, None] * f[:, None, :]).flatten(1)
            for some in torch.arange(m).split(BLOCK):
                r = (rows[some] @ f.mT).sub_(log_partition).exp_().mul_(weights)
                found.mass[some] += r.sum(1)
                found.first[some] += r @ f
                found.second[some] += (r @ products).view(-1, d, d)
                found.squares[some] += r.square().sum(1)
        return found


def rows_from_means(
    means: Float[Tensor, "m d"],
    shares: Float[Tensor, " m"],
    trained: Float[Tensor, "n d"],
    seen: Seen,
    at_trained: Moments,
    unit: bool,
) -> tuple[Float[Tensor, "m d"], int]:
    """The rows w_i that minimise F_i(w) = E[r_w] − ρ_i ⟨w, m_i⟩, with r_w(x) = exp⟨w, f(x)⟩ / Z(x).

    x is drawn from the trained labels, Z is the sum over them, m_i is the mean output of label i, and ρ_i its
    probability by theirs. F_i is what DIET's loss over the trained labels and i is for the row of i, to first order in
    r_w: one more label of a class that has several. It is convex in w, and of the draws of a label it needs their mean
    alone.

    Where p(i|x) is a softmax, ρ_i p(x|i) = r_w(x) p(x) at w = w_i, and ∇F_i = E[r_w f] − ρ_i m_i is zero there, as that
    of DIET is. Where it is not, a label that has its class in common with trained ones, and whose rows are at their
    optimum for F, still has the same row as they.

    By Newton steps, from the trained row that is likeliest for the label. Each changes ⟨w, f⟩ by no more than 1 (root
    mean square under r_w), and the first is the last if λ² = gᵀH⁻¹g / ρ, which is d / `DRAWS` by the noise of m_i
    alone, is at most four times that. Rows of unit length move along the sphere, whose curvature counts.

    Where no trained label is like a label, E rests on few outputs, and its row is uncertain. How many are is told too.
    """
    start = (means @ trained.mT - at_trained.mass / shares[:, None]).argmax(1)
    found, moments = trained[start], at_trained.of(start)
    left, uncertain = torch.arange(len(means)), 0
    for _ in range(MOST_STEPS):
        w, share = found[left], shares[left]
        step, square = _newton(w, share[:, None] * means[left] - moments.first, moments.second, unit)
        w = w + step / (square / moments.mass).sqrt().clamp_min(1)[:, None]
        found[left] = normalize(w, dim=1) if unit else w
        far = ~(square <= 4 * means.shape[1] / DRAWS * share)  # what is no number is not near
        uncertain += int((moments.effective[~far] < TRAINED_DRAWS / 2).sum())
        left = left[far]
        if not len(left):
            break
        moments = seen.moments(found[left])
    return found, len(left) + uncertain


def _newton(w: Tensor, down: Tensor, second: Tensor, unit: bool) -> tuple[Tensor, Tensor]:
    """H⁻¹ times −∇F, and ∇FᵀH⁻¹∇F; along the sphere if rows are of unit length."""
    eye = torch.eye(w.shape[1], dtype=w.dtype)
    size = second.diagonal(dim1=1, dim2=2).mean(1)[:, None, None]
    if unit:
        outwards = w[:, :, None] * w[:, None, :]
        along = eye - outwards
        pull = (w * down).sum(1).clamp_min(0)[:, None, None]  # of a row that would rather be longer
        second = along @ (second + pull * eye) @ along + size * outwards
        down = (along @ down[:, :, None])[:, :, 0]
    step = torch.linalg.solve(second + 1e-5 * size * eye, down)
    return step, (step * down).sum(1).clamp_min(0)
