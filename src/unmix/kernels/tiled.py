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
    positive: Tensor | None,
    group_size: int,
    energy: float,
    with_gradient: bool,
) -> tuple[Tensor, ...]:
    """The sum and, if asked, its gradients for anchors, negatives and positive."""
    s_plus = anchors.new_zeros(len(anchors)) if positive is None else positive
    inputs = [t.detach() for t in (anchors, negatives, s_plus)]
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
                diagonal = torch.full_like(s, -torch.inf) if positive is None else s  # never its own negative
                scores = similarity.matrix(a, n).scatter(1, own, diagonal[:, None])
                if positive is None:
                    nearest = -scores.detach().amax(1, keepdim=True)
                    scores = scores * torch.where(nearest > energy, energy / nearest, 1.0)
                value = (torch.logsumexp(scores, 1) - s).sum()
            if with_gradient:
                for so_far, part, g in zip(gradients, parts, torch.autograd.grad(value, leaves), strict=True):
                    so_far[part] += g
            total += value.detach()
    return total, *gradients
