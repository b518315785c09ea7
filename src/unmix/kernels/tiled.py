"""The contrastive sum on any device and for any similarity: autograd inside tiles of rows."""

from __future__ import annotations

import torch
from torch import Tensor

from unmix.similarities import Similarity

TILE_ENTRIES = 1 << 19  # entries × dimension of one tile: a few megabytes at most


def contrastive_sum(
    similarity: Similarity,
    anchors: Tensor,
    negatives: Tensor,
    positive: Tensor,
    group_size: int,
    with_gradient: bool,
) -> tuple[Tensor, ...]:
    """The sum and, if asked, its gradients for anchors, negatives and positive."""
    inputs = [t.detach() for t in (anchors, negatives, positive)]
    gradients = [torch.zeros_like(t) for t in inputs] if with_gradient else []
    total = anchors.new_zeros(())
    tile = max(1, TILE_ENTRIES // (group_size * anchors.shape[1]))
    for group in range(0, len(anchors), group_size):
        members = slice(group, group + group_size)
        for start in range(group, group + group_size, tile):
            rows = slice(start, min(start + tile, group + group_size))
            parts = (rows, members, rows)  # of anchors, negatives and positive
            leaves = [t[part].requires_grad_(with_gradient) for t, part in zip(inputs, parts, strict=True)]
            with torch.set_grad_enabled(with_gradient):
                a, n, s = leaves
                own = torch.arange(rows.start - group, rows.stop - group, device=a.device)[:, None]
                scores = similarity.matrix(a, n).scatter(1, own, s[:, None])  # never its own negative
                value = (torch.logsumexp(scores, 1) - torch.where(s.isneginf(), 0.0, s)).sum()
            if with_gradient:
                for so_far, part, g in zip(gradients, parts, torch.autograd.grad(value, leaves), strict=True):
                    so_far[part] += g
            total += value.detach()
    return total, *gradients
