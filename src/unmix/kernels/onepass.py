"""The contrastive sum on CPU in float32: similarity, softmax and all gradients in one compiled pass."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from unmix.similarities import Dot, Lp, LpNorm, Similarity

ENTRIES_WORTH_A_THREAD = 1 << 20


def serves(similarity: Similarity, anchors: Tensor) -> bool:
    """Whether this method can do the job exactly."""
    return _power(similarity) is not None and anchors.device.type == "cpu" and anchors.dtype == torch.float32


def _power(similarity: Similarity) -> float | None:
    """The exponent p of −Σ|a−b|^p, 0 for the dot product, None for anything else."""
    if isinstance(similarity, Dot):
        return 0.0
    if isinstance(similarity, Lp) or (isinstance(similarity, LpNorm) and similarity.p == 1):
        return float(similarity.p)
    return None


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
    from unmix.kernels.compiled import contrastive_rows  # imports numba: only when a loss is first computed

    b, d = anchors.shape
    power, energy = _power(similarity), energy if positive is None else 0.0
    a = anchors.detach().contiguous().numpy()
    s = np.zeros(b, np.float32) if positive is None else positive.detach().contiguous().numpy()
    n = negatives.detach().mT.contiguous().numpy()  # coordinate by coordinate, so that inner loops vectorise
    threads = max(1, min(torch.get_num_threads(), b * group_size // ENTRIES_WORTH_A_THREAD))
    bounds = [b * t // threads for t in range(threads + 1)]
    grad_a, grad_s = np.empty_like(a), np.empty_like(s)
    grad_n = np.zeros((threads, d, b), np.float32)  # one a thread: rows share their negatives

    def run(t: int) -> float:
        rows = bounds[t], bounds[t + 1]
        return float(
            contrastive_rows(power, a, n, s, energy, group_size, *rows, with_gradient, grad_a, grad_n[t], grad_s)
        )

    if threads == 1:
        total = run(0)
    else:
        with ThreadPoolExecutor(threads) as pool:
            total = sum(pool.map(run, range(threads)))
    if bool(anchors.isnan().any() | negatives.isnan().any()):
        total = math.nan  # the compiled logarithm reads a NaN's bits as a number
    value = torch.tensor(total, dtype=torch.float32)
    if not with_gradient:
        return (value,)
    return value, torch.from_numpy(grad_a), torch.from_numpy(grad_n.sum(0)).mT, torch.from_numpy(grad_s)
