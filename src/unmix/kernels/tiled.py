"""The log-partition sum on any device and for any similarity: autograd inside tiles of rows."""

from __future__ import annotations

import torch
from torch import Tensor

from unmix.similarities import Similarity

TILE_ENTRIES = 1 << 19  # entries × dimension of one tile: a few megabytes at most


def log_partition_sum(
    similarity: Similarity,
    anchors: Tensor,
    negatives: Tensor,
    positive: Tensor,
    group_size: int,
    with_gradient: bool,
) -> tuple[Tensor, ...]:
    """The sum and, if asked, its gradients for anchors, negatives and positive."""
    leaves = [t.detach().requires_grad_(with_gradient) for t in (anchors, negatives, positive)]
    total = anchors.new_zeros(())
    gradients = [torch.zeros_like(t) for t in leaves] if with_gradient else []
    tile = max(1, TILE_ENTRIES // (group_size * anchors.shape[1]))
    for group in range(0, len(anchors), group_size):
        candidates = slice(group, group + group_size)
        for start in range(group, group + group_size, tile):
            rows = slice(start, min(start + tile, group + group_size))
            with torch.set_grad_enabled(with_gradient):
                s = similarity.matrix(leaves[0][rows], leaves[1][candidates])
                own = torch.arange(rows.start - group, rows.stop - group, device=s.device)[:, None]
                s = s.scatter(1, own, leaves[2][rows, None])  # an anchor is never its own negative
                part = torch.logsumexp(s, 1).sum()
            if with_gradient:
                for sum_so_far, g in zip(gradients, torch.autograd.grad(part, leaves), strict=True):
                    sum_so_far += g
            total += part.detach()
    return total, *gradients
