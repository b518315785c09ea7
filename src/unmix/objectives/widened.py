"""InfoNCE for conditionals that are narrower than a batch can see: negatives through a wider kernel."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.kernels import contrastive_sum
from unmix.similarities import Lp, LpNorm, Similarity

PROBES = 32  # anchors whose nearest negative is looked for: their mean is good to a few percent


def widened_sum(
    similarity: Similarity,
    anchors: Float[Tensor, "b d"],
    positive: Float[Tensor, " b"],
    group_size: int | None = None,
    own_widths: bool = False,
) -> Float[Tensor, ""]:
    """Σ_i [ log Σ_{j≠i} exp k(c_i a_i, c_i a_j) − s⁺_i ], with k = `kernel(s)` and widths c_i ≤ 1.

    With many negatives, k = s and c = 1 it is InfoNCE: alignment of the pairs, and log Z(x) = log E exp s(f(x), f(x⁻)).
    Where the kernel exp s is narrow, log Z(x) is the log-density of the embedding at f(x), up to a constant, and
    InfoNCE is alignment less entropy (Wang & Isola 2020). A batch has no negatives within so narrow a kernel, and
    InfoNCE loses its gradient; but a density can be estimated by a wider kernel, as wide as the nearest negatives are
    far.

    A width brings the nearest negative as near as a draw of the kernel is, on average: a density ∝ exp k with k
    homogeneous of degree h has E[−k] = d/h in d dimensions, whatever k is. One `width` serves all anchors of a batch,
    or each anchor has its own, c_i^h = d / (h · min_j −k(a_i, a_j)), at most 1. One width suits a uniform embedding,
    whose corners it pushes harder than its middle, as they should be filled. Where an embedding has tails, one width
    cannot suit them and the middle: nearly all of the gradient is that of a few far anchors, whose push grows with
    their distance. By its own width each pushes alike.

    Widths are found anew for each batch and held fixed in the gradient, so that far negatives push at every scale; the
    value of the sum itself hardly changes with the scale of the embedding, and does not say how good a fit is.

    The embedding of a uniform marginal by the right f is uniform, and every width sees the same density there, but for
    points within a kernel's width of the boundary: c < 1 moves the optimum there, and the scale, which settles above
    the law's own. For an Lp similarity and a box it moves by a monotone function of each coordinate. The nearer the
    negatives (`recipes.Local`), the narrower that margin. The positive is not in the sum over negatives: at another
    width it has no place there (Yeh et al. 2022 leave it out too).

    Examples
    --------
    >>> from unmix.similarities import Lp
    >>> a = torch.tensor([[0.0], [1.0], [2.0]])
    >>> round(widened_sum(Lp(2), a, torch.zeros(3)).item(), 3)  # the nearest is at 1, a positive at 1/2: c² = 1/2
    -0.404
    """
    density = kernel(similarity)
    if own_widths:
        energy = anchors.shape[1] / density.degree
        return contrastive_sum(density, anchors, anchors, None, group_size, energy) - positive.sum()
    shrunk = width(density, anchors.detach(), group_size) * anchors
    return contrastive_sum(density, shrunk, shrunk, None, group_size) - positive.sum()


def kernel(similarity: Similarity) -> Similarity:
    """What density is estimated by: the similarity itself, but an Lp one with p = 2 at most.

    A kernel of p > 2 is nearly a cube once it is wide, and prefers its axes to lie along those of a box whatever the
    conditional. The normal one sees no axes, so that where p > 2 only alignment shows them, as in InfoNCE where its own
    kernel is narrow. Nor is the sum InfoNCE for p > 2 when c = 1: it is alignment less another estimate of entropy.

    Examples
    --------
    >>> kernel(Lp(3)), kernel(Lp(1))
    (Lp(p=2), Lp(p=1))
    """
    return replace(similarity, p=2) if isinstance(similarity, (Lp, LpNorm)) and similarity.p > 2 else similarity


def width(similarity: Similarity, points: Float[Tensor, "b d"], group_size: int | None = None) -> float:
    """The factor c ≤ 1 that brings the nearest of the other points as near as a draw of the kernel is, on average.

    A density ∝ exp s with s homogeneous of degree h has E[−s] = d/h in d dimensions, whatever s is, so c is
    (d / (h · mean_i min_j −s(a_i, a_j)))^{1/h}, or 1 where negatives are near enough.

    Examples
    --------
    >>> from unmix.similarities import Lp
    >>> width(Lp(1), torch.tensor([[0.0], [4.0], [8.0]])), width(Lp(1), torch.tensor([[0.0], [0.1]]))
    (0.25, 1.0)
    """
    n, d = points.shape
    size = group_size or n
    rows = torch.arange(0, n, max(1, n // PROBES))
    nearest = []
    for group in (rows // size).unique().tolist():
        here, members = rows[rows // size == group], points[group * size : (group + 1) * size]
        distances = -similarity.matrix(points[here], members)
        own = (here - group * size)[:, None]  # never its own neighbour
        nearest.append(distances.scatter_(1, own, torch.inf).min(1).values)
    wanted, found = d / similarity.degree, torch.cat(nearest).mean().item()
    return 1.0 if found <= wanted else (wanted / found) ** (1 / similarity.degree)
