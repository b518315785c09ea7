"""A cloud of points cut into small regions of equal size."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from unmix.errors import require


def regions(points: Float[Tensor, "n d"], depth: int, generator: torch.Generator) -> Int[Tensor, "r m"]:
    """Rows of 2^depth boxes that hold equally many points, by halving at the median along random axes in turn.

    Parameters
    ----------
    points : (n, d), with n a multiple of 2^depth.

    Returns
    -------
    (2^depth, n / 2^depth) indices; each row is one region, and every point is in one of them.

    Examples
    --------
    >>> points = torch.tensor([[3.0], [0.0], [2.0], [1.0]])
    >>> sorted(sorted(r) for r in regions(points, 1, torch.Generator().manual_seed(0)).tolist())
    [[0, 2], [1, 3]]
    """
    n, d = points.shape
    require(n % (1 << depth) == 0, f"{n} points cannot be halved {depth} times: give a multiple of {1 << depth}.")
    axes = torch.linalg.qr(torch.randn(d, d, generator=generator)).Q
    turned = (axes.to(points).mT @ points.mT).numpy()
    rows = np.arange(n)[None]
    for level in range(depth):
        along = turned[level % d][rows]
        halves = np.argpartition(along, along.shape[1] // 2, axis=1)  # torch has no selection, and sorting is slow
        rows = np.take_along_axis(rows, halves, 1).reshape(2 << level, -1)
    return torch.from_numpy(rows)
