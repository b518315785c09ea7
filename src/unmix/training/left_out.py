"""Labels that no step draws: once an encoder is trained on some labels, the rows of the others follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import normalize

from unmix.model import Network
from unmix.objectives.cross_entropy import Head
from unmix.processes import ClusterProcess

DRAWS = 500  # of each label: their mean is all that its row depends on, and the noise of a row falls as 1 / DRAWS
SEEN = 65_536  # rows of the trained labels, which stand for their expectation; its noise is shared by rows of a class
NEAR = 0.5  # a Newton decrement λ: a full step from here leaves less than λ²/4 of the variance that the draws have
LONGEST = 50  # steps; one is enough where a label has a trained neighbour
AT_ONCE = 2048  # rows of the head, and rows of observations


def head_of(network: Network) -> Head:
    head = network.loss
    assert isinstance(head, Head)  # or the recipe would have refused the model
    return head


def cut(network: Network, among: Int64[Tensor, " n"]) -> None:
    """Leave the rows of these labels alone in the head."""
    head = head_of(network)
    head.weight = nn.Parameter(head.weight.detach()[among])


def complete(
    network: Network,
    process: ClusterProcess,
    among: Int64[Tensor, " n"],
    generator: torch.Generator,
    shown: Callable[[Iterable[Tensor], int], Iterable[Tensor]],
) -> None:
    """Give a head that was trained on the labels `among` the rows of all labels (`rows_from_means`).

    `shown` hands on blocks of labels, of which there are so many, and shows how far they are.
    """
    head = head_of(network)
    trained, unit = head.rows().detach(), head.objective.unit_rows
    outputs = network.embed(process.sample(SEEN, generator, among=among, even=True).x)
    seen = Seen.of(float(head.beta.detach()) * outputs, trained)
    at_trained = seen.moments(trained)
    shares = (process.probabilities / process.probabilities[among].sum()).float()

    weight = trained.new_empty(process.labels, trained.shape[1])
    weight[among] = head.weight.detach()
    others = torch.ones(process.labels, dtype=torch.bool).index_fill(0, among, False).nonzero()[:, 0]
    blocks = others.split(AT_ONCE)
    for block in shown(blocks, len(blocks)):
        drawn = process.sample_labels(block.repeat_interleave(DRAWS), generator).x
        means = float(head.beta.detach()) * network.embed(drawn).view(len(block), DRAWS, -1).mean(1)
        weight[block] = rows_from_means(means, shares[block], trained, seen, at_trained, unit)
    head.weight = nn.Parameter(weight)


class Moments(NamedTuple):
    """E r, E r f and E r f fᵀ of n rows: (n,), (n, d) and (n, d, d)."""

    mass: Tensor
    first: Tensor
    second: Tensor

    def of(self, which: Tensor) -> Moments:
        return Moments(*(part[which] for part in self))


class Seen(NamedTuple):
    """Outputs f of rows of the trained labels, β in them, with log Z(x) = log Σ_j exp⟨w_j, f(x)⟩."""

    outputs: Float[Tensor, "s d"]
    log_partition: Float[Tensor, " s"]

    @classmethod
    def of(cls, outputs: Float[Tensor, "s d"], rows: Float[Tensor, "n d"]) -> Seen:
        return cls(outputs, torch.cat([(part @ rows.mT).logsumexp(1) for part in outputs.split(AT_ONCE)]))

    def moments(self, rows: Float[Tensor, "m d"]) -> Moments:
        """Of r(x) = exp⟨w, f(x)⟩ / Z(x), for each of the rows w."""
        m, d = rows.shape
        found = Moments(rows.new_zeros(m), rows.new_zeros(m, d), rows.new_zeros(m, d, d))
        for f, log_partition in zip(*(part.split(AT_ONCE) for part in self), strict=True):
            products = (f[:, :, None] * f[:, None, :]).flatten(1)
            for some in torch.arange(m).split(AT_ONCE):
                r = (rows[some] @ f.mT).sub_(log_partition).exp_().div_(len(self.outputs))
                found.mass[some] += r.sum(1)
                found.first[some] += r @ f
                found.second[some] += (r @ products).view(-1, d, d)
        return found


def rows_from_means(
    means: Float[Tensor, "m d"],
    shares: Float[Tensor, " m"],
    trained: Float[Tensor, "n d"],
    seen: Seen,
    at_trained: Moments,
    unit: bool,
) -> Float[Tensor, "m d"]:
    """The rows w_i that minimise F_i(w) = E[r_w] − ρ_i ⟨w, m_i⟩, with r_w(x) = exp⟨w, f(x)⟩ / Z(x).

    F_i is DIET's loss as one row sees it, where labels are many: x is drawn from the trained labels, Z is the sum over
    them, m_i is the mean output of label i, and ρ_i its probability by theirs. It is convex, so that nothing can go
    wrong once the encoder is right, and of the draws of a label it needs their mean alone.

    Where p(i|x) is a softmax, ρ_i p(x|i) = r_w(x) p(x) at w = w_i, and ∇F_i = E[r_w f] − ρ_i m_i is zero there. DIET
    over the trained labels and i, or over all labels, asks the same of the row.

    By Newton steps, from the trained row that is likeliest for the label. Each changes ⟨w, f⟩ by no more than 1 (root
    mean square under r_w), and one from near the optimum (λ² = gᵀH⁻¹g / ρ below `NEAR`²) is the last: m_i has a noise
    of its own, λ² ≈ d / `DRAWS`. Rows of unit length move along the sphere.
    """
    start = (means @ trained.mT - at_trained.mass / shares[:, None]).argmax(1)
    found, moments = trained[start], at_trained.of(start)
    left = torch.arange(len(means))
    for _ in range(LONGEST):
        w, share = found[left], shares[left]
        step, square = _newton(w, share[:, None] * means[left] - moments.first, moments.second, unit)
        w = w + step / (square / moments.mass).sqrt().clamp_min(1)[:, None]
        found[left] = normalize(w, dim=1) if unit else w
        left = left[square > NEAR**2 * share]
        if not len(left):
            break
        moments = seen.moments(found[left])
    return found


def _newton(w: Tensor, down: Tensor, second: Tensor, unit: bool) -> tuple[Tensor, Tensor]:
    """H⁻¹ times −∇F, and ∇FᵀH⁻¹∇F; along the sphere if rows are of unit length."""
    eye = torch.eye(w.shape[1])
    size = second.diagonal(dim1=1, dim2=2).mean(1)[:, None, None]
    if unit:
        outwards = w[:, :, None] * w[:, None, :]
        down = ((eye - outwards) @ down[:, :, None])[:, :, 0]
        second = (eye - outwards) @ second @ (eye - outwards) + size * outwards
    step = torch.linalg.solve(second + 1e-6 * size * eye, down)
    return step, (step * down).sum(1).clamp_min(0)
