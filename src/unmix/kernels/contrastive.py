"""The sum of InfoNCE over a batch, exact, in memory linear in the batch."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from unmix.errors import require
from unmix.kernels import onepass, tiled
from unmix.similarities import Similarity


def contrastive_sum(
    similarity: Similarity,
    anchors: Float[Tensor, "b d"],
    negatives: Float[Tensor, "b d"],
    positive: Float[Tensor, " b"] | None,
    group_size: int | None = None,
    energy: float = math.inf,
) -> Float[Tensor, ""]:
    """Σ_i log( exp s⁺_i + Σ_{j ≠ i, j in the group of i} exp s(a_i, n_j) ) − s⁺_i.

    Value and gradients are found together in the forward pass, so neither B×B×d nor B×B is ever held,
    and backward only multiplies by the incoming scalar. On CPU in float32 a compiled one-pass loop does
    it (`onepass`); elsewhere autograd works on tiles of rows (`tiled`).

    Parameters
    ----------
    positive : the similarity of each anchor to its positive, s⁺. None leaves the terms of s⁺ out, and the sum is
        Σ_i log Σ_{j ≠ i} exp c_i s(a_i, n_j).
    group_size : rows are taken in groups of this size and only meet negatives of their own group;
        it must divide b. None is the whole batch.
    energy : where there is no positive, above 0: the largest c_i ≤ 1 with which the nearest negative has no more,
        −c_i s(a_i, n_j) ≤ energy for some j. It is held fixed in the gradient.

    Examples
    --------
    >>> from unmix.similarities import Dot
    >>> a = torch.eye(2)
    >>> float(contrastive_sum(Dot(), a, a, torch.zeros(2)))  # 2 log(e^0 + e^0)
    1.3862943649291992
    """
    require(energy > 0 and (positive is None or energy == math.inf), "an energy above 0 goes without positives.")
    groups = group_size or len(anchors)
    total: Tensor = _ContrastiveSum.apply(anchors, negatives, positive, similarity, groups, energy)
    return total


class _ContrastiveSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        anchors: Tensor,
        negatives: Tensor,
        positive: Tensor | None,
        similarity: Similarity,
        group_size: int,
        energy: float,
    ) -> Tensor:
        with_gradient = any(ctx.needs_input_grad[:3])
        method = onepass if onepass.serves(similarity, anchors) else tiled
        total, *gradients = method.contrastive_sum(
            similarity, anchors, negatives, positive, group_size, energy, with_gradient
        )
        ctx.save_for_backward(*gradients)
        ctx.alone = positive is None
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        for_anchors, for_negatives, for_positive = (g * upstream for g in ctx.saved_tensors)
        return for_anchors, for_negatives, None if ctx.alone else for_positive, None, None, None
