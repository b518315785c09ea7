"""InfoNCE for conditionals that are narrower than a batch can see: negatives through a wider kernel."""

from __future__ import annotations

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from unmix.kernels import contrastive_sum
from unmix.similarities import Lp, LpNorm, Similarity


def widened_sum(
    similarity: Similarity,
    anchors: Float[Tensor, "b d"],
    positive: Float[Tensor, " b"],
    group_size: int | None = None,
) -> Float[Tensor, ""]:
    """Σ_i [ log Σ_{j≠i} exp k(c_i a_i, c_i a_j) − s⁺_i ], with k = `kernel(s)` and a width c_i ≤ 1 for each anchor.

    With many negatives, k = s and c = 1 it is InfoNCE: alignment of the pairs, and log Z(x) = log E exp s(f(x), f(x⁻)).
    Where the kernel exp s is narrow, log Z(x) is the log-density of the embedding at f(x), up to a constant, and
    InfoNCE is alignment less entropy (Wang & Isola 2020). A batch has no negatives within so narrow a kernel, and
    InfoNCE loses its gradient; but a density can be estimated by a wider kernel, as wide as the nearest negatives are
    far.

    c_i brings the nearest negative of anchor i as near as a draw of the kernel is, on average: a density ∝ exp k with k
    homogeneous of degree h has E[−k] = d/h in d dimensions, whatever k is, so c_i^h = d / (h · min_j −k(a_i, a_j)), or
    1 where a negative is nearer. It is held fixed in the gradient, so that far negatives push at every scale; the value
    of the sum itself hardly changes with the scale of the embedding, and does not say how good a fit is. One width for
    all anchors would suit the middle of an embedding or its tails, not both: by the widest, nearly all of the gradient
    is that of the tails, by the narrowest, the pull of a few far anchors is as strong as their distance.

    The embedding of a uniform marginal by the right f is uniform, and every width sees the same density there, but for
    points within a kernel's width of the boundary: c < 1 moves the optimum there, and the scale, which settles above
    the law's own. For an Lp similarity and a box it moves by a monotone function of each coordinate. The nearer the
    negatives (`recipes.Local`), the narrower that margin. The positive is not in the sum over negatives: at another
    width it has no place there (Yeh et al. 2022 leave it out too).

    Examples
    --------
    >>> import torch
    >>> from unmix.similarities import Lp
    >>> a = torch.tensor([[0.0], [1.0], [2.0]])
    >>> round(widened_sum(Lp(2), a, torch.zeros(3)).item(), 3)  # the nearest is at 1, a positive at 1/2: c² = 1/2
    -0.404
    """
    density = kernel(similarity)
    energy = anchors.shape[1] / density.degree
    return contrastive_sum(density, anchors, anchors, None, group_size, energy) - positive.sum()


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
