"""The log-partition sum on CPU in float32: similarity, softmax and all gradients in one compiled pass.

One row at a time, with the negatives stored coordinate by coordinate so that every inner loop runs
along the batch and vectorises; the exponential is a polynomial because the library's would not.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unmix.similarities import Dot, Lp, Similarity

POWERS = (1, 2, 3, 4)  # of Lp; 0 stands for the dot product
ENTRIES_WORTH_A_THREAD = 1 << 20


def serves(similarity: Similarity, anchors: Tensor) -> bool:
    """Whether this method can do the job exactly."""
    known = isinstance(similarity, Dot) or (isinstance(similarity, Lp) and similarity.p in POWERS)
    return known and anchors.device.type == "cpu" and anchors.dtype == torch.float32


def log_partition_sum(
    similarity: Similarity,
    anchors: Tensor,
    negatives: Tensor,
    positive: Tensor,
    group_size: int,
    with_gradient: bool,
) -> tuple[Tensor, ...]:
    """The sum and, if asked, its gradients for anchors, negatives and positive."""
    power = int(similarity.p) if isinstance(similarity, Lp) else 0
    b, d = anchors.shape
    a, s = anchors.detach().contiguous().numpy(), positive.detach().contiguous().numpy()
    n = negatives.detach().mT.contiguous().numpy()
    threads = max(1, min(torch.get_num_threads(), b * group_size // ENTRIES_WORTH_A_THREAD))
    bounds = [b * t // threads for t in range(threads + 1)]
    grad_a, grad_s = np.empty_like(a), np.empty_like(s)
    grad_n = np.zeros((threads, d, b), np.float32)  # one a thread: rows share their negatives
    loop = _compiled()

    def run(t: int) -> float:
        rows = bounds[t], bounds[t + 1]
        return float(loop(power, a, n, s, group_size, *rows, with_gradient, grad_a, grad_n[t], grad_s))

    if threads == 1:
        total = run(0)
    else:
        with ThreadPoolExecutor(threads) as pool:
            total = sum(pool.map(run, range(threads)))
    value = torch.tensor(total, dtype=torch.float32)
    if not with_gradient:
        return (value,)
    return value, torch.from_numpy(grad_a), torch.from_numpy(grad_n.sum(0)).mT, torch.from_numpy(grad_s)


@cache
def _compiled() -> Any:
    """Import numba and compile only when a loss is first computed; keep the machine code on disk if possible."""
    import numba

    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": {"contract", "reassoc", "nsz", "arcp"},
        "error_model": "numpy",
    }
    exp = numba.njit(inline="always", **options)(_exp)
    source = _make_loop(exp)
    try:
        return numba.njit(cache=True, **options)(source)
    except RuntimeError:  # no writable place for the cache
        return numba.njit(**options)(source)


def _exp(x: Any) -> Any:
    """exp(x) for x ≤ 0 to about 1e-7, as 2^n times a polynomial; zero below −60, where a softmax weight is lost."""
    n = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    r = x - n * np.float32(0.693359375)
    r = r + n * np.float32(2.12194440e-4)
    y = np.float32(1.9875691500e-4)
    y = y * r + np.float32(1.3981999507e-3)
    y = y * r + np.float32(8.3334519073e-3)
    y = y * r + np.float32(4.1665795894e-2)
    y = y * r + np.float32(1.6666665459e-1)
    y = y * r + np.float32(5.0000001201e-1)
    y = y * r * r + r + np.float32(1.0)
    exponent = (np.int32(max(n, np.float32(-120.0))) + np.int32(127)) << np.int32(23)
    return y * np.int32(exponent).view(np.float32) if x > np.float32(-60.0) else np.float32(0.0)


def _make_loop(exp: Any) -> Any:
    def loop(power, a, n, s, group, start, stop, with_gradient, grad_a, grad_n, grad_s):  # type: ignore[no-untyped-def]
        d = n.shape[0]
        w = np.empty(group, np.float32)
        total = 0.0
        for i in range(start, stop):
            first = i // group * group
            w[:] = 0
            for c in range(d):
                x, y = a[i, c], n[c, first : first + group]
                if power == 0:
                    for j in range(group):
                        w[j] += x * y[j]
                elif power == 1:
                    for j in range(group):
                        w[j] -= abs(x - y[j])
                elif power == 2:
                    for j in range(group):
                        t = x - y[j]
                        w[j] -= t * t
                elif power == 3:
                    for j in range(group):
                        t = abs(x - y[j])
                        w[j] -= t * t * t
                else:
                    for j in range(group):
                        t = (x - y[j]) * (x - y[j])
                        w[j] -= t * t
            own = i - first
            w[own] = s[i]  # an anchor is never its own negative: the positive takes its place
            peak = w[0]
            for j in range(group):
                peak = max(peak, w[j])
            mass = np.float32(0)
            for j in range(group):
                w[j] = exp(w[j] - peak)
                mass += w[j]
            total += peak + math.log(mass)
            if not with_gradient:
                continue
            scale = np.float32(1) / mass
            for j in range(group):
                w[j] *= scale
            grad_s[i] = w[own]
            w[own] = 0
            for c in range(d):
                x, y, g = a[i, c], n[c, first : first + group], grad_n[c, first : first + group]
                here = np.float32(0)
                if power == 0:
                    for j in range(group):
                        here += w[j] * y[j]
                        g[j] += w[j] * x
                elif power == 1:
                    for j in range(group):
                        t = w[j] * np.sign(x - y[j])
                        here -= t
                        g[j] += t
                elif power == 2:
                    for j in range(group):
                        t = np.float32(2) * w[j] * (x - y[j])
                        here -= t
                        g[j] += t
                elif power == 3:
                    for j in range(group):
                        t = x - y[j]
                        t = np.float32(3) * w[j] * t * abs(t)
                        here -= t
                        g[j] += t
                else:
                    for j in range(group):
                        t = x - y[j]
                        t = np.float32(4) * w[j] * t * t * t
                        here -= t
                        g[j] += t
                grad_a[i, c] = here
        return total

    return loop
