"""The log-partition sum of a softmax over many labels, exact, in memory linear in batch and labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor
from torch.autograd.function import once_differentiable

from unmix.errors import require

TILE_ROWS, TILE_LABELS = 128, 2048  # a tile of labels and its gradient stay in the cache
FEW_LABELS = 16_384  # whose scores of one row, and their weights, stay in the cache
ENTRIES_WORTH_A_THREAD = 1 << 22


def log_partition_sum(outputs: Float[Tensor, "b d"], weights: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """Σ_i log Σ_k exp⟨f_i, w_k⟩, the part of a cross-entropy that runs over all labels.

    Value and gradients are found together in the forward pass, so that B×N is never held, and backward only multiplies
    by the incoming scalar. On CPU in float32 compiled loops do it, for up to 16,384 labels in one pass; beyond, and
    elsewhere, tiles of rows × labels are computed twice, once for the partition and once for the gradients.

    Examples
    --------
    >>> float(log_partition_sum(torch.zeros(3, 2), torch.ones(4, 2)).exp())  # 4³
    64.0
    """
    fit = outputs.ndim == weights.ndim == 2 and outputs.shape[1] == weights.shape[1] and len(weights) > 0
    same = outputs.dtype == weights.dtype and outputs.device == weights.device
    require(
        fit and same,
        f"outputs and rows must be tables of one width, dtype and device, with at least one row each, not "
        f"{tuple(outputs.shape)} of {outputs.dtype} and {tuple(weights.shape)} of {weights.dtype}.",
    )
    total: Tensor = _LogPartitionSum.apply(outputs, weights)
    return total


class _LogPartitionSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, outputs: Tensor, weights: Tensor) -> Tensor:
        with_gradient = any(ctx.needs_input_grad)
        f, w = outputs.detach(), weights.detach()
        if f.device.type == "cpu" and f.dtype == w.dtype == torch.float32:
            method = _few if len(w) <= FEW_LABELS else _many
        else:
            method = _tiled
        total, *gradients = method(f, w, with_gradient)
        ctx.save_for_backward(*gradients)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, ...]:
        for_outputs, for_weights = ctx.saved_tensors
        return for_outputs * upstream, for_weights * upstream


def _few(f: Tensor, w: Tensor, with_gradient: bool) -> tuple[Tensor, ...]:
    """In one thread: the loops are over before a second one would be awake."""
    from unmix.kernels.compiled_partition import partition_rows  # imports numba: only when a loss is first computed

    grad_f, grad_w = np.empty(f.shape, np.float32), np.zeros((w.shape[1], len(w)), np.float32)
    total = partition_rows(f.contiguous().numpy(), w.mT.contiguous().numpy(), with_gradient, grad_f, grad_w)
    return _results(f, w, float(total), grad_f, grad_w) if with_gradient else _results(f, w, float(total))


def _many(f: Tensor, w: Tensor, with_gradient: bool) -> tuple[Tensor, ...]:
    """Threads share the labels out, so that each writes its own part of the labels' gradient."""
    from unmix.kernels.compiled_partition import partition_gradients, partition_of_tiles

    rows, labels = f.contiguous().numpy(), w.mT.contiguous().numpy()
    threads = max(1, min(torch.get_num_threads(), len(f) * len(w) // ENTRIES_WORTH_A_THREAD))
    bounds = [len(w) * t // threads for t in range(threads + 1)]
    tops, masses = np.empty((2, threads, len(f)), np.float32)

    def shared_out(work: Callable[..., None]) -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda t: work(t, rows, labels, bounds[t], bounds[t + 1], TILE_LABELS), range(threads)))

    shared_out(lambda t, *part: partition_of_tiles(*part, tops[t], masses[t]))
    top = tops.max(0)
    with np.errstate(invalid="ignore"):  # NaN is told below
        mass = (masses * np.exp(tops - top)).sum(0)
        total = float((top.astype(np.float64) + np.log(mass)).sum())
    if not with_gradient:
        return _results(f, w, total)
    grad_f, grad_w = np.zeros((threads, *f.shape), np.float32), np.zeros(labels.shape, np.float32)
    shared_out(lambda t, *part: partition_gradients(*part, top, mass, grad_f[t], grad_w))
    return _results(f, w, total, grad_f.sum(0), grad_w)


def _results(f: Tensor, w: Tensor, total: float, *gradients: ndarray) -> tuple[Tensor, ...]:
    if bool(f.isnan().any() | w.isnan().any()):
        total = math.nan  # the compiled exponential reads a NaN's bits as a number
    value = torch.tensor(total, dtype=torch.float32)
    if not gradients:
        return (value,)
    grad_f, grad_w = map(torch.from_numpy, gradients)
    return value, grad_f, grad_w.mT


def _tiled(f: Tensor, w: Tensor, with_gradient: bool) -> tuple[Tensor, ...]:
    log_z = torch.cat([_log_partition(rows, w) for rows in f.split(TILE_ROWS)])
    if not with_gradient:
        return (log_z.sum(),)
    grad_f, grad_w = torch.zeros_like(f), torch.zeros_like(w)
    for start in range(0, len(w), TILE_LABELS):  # labels outside: their gradient stays in the cache
        labels = slice(start, start + TILE_LABELS)
        for first in range(0, len(f), TILE_ROWS):
            rows = slice(first, first + TILE_ROWS)
            p = torch.addmm(-log_z[rows, None], f[rows], w[labels].mT).exp_()
            grad_f[rows].addmm_(p, w[labels])
            grad_w[labels].addmm_(p.mT, f[rows])
    return log_z.sum(), grad_f, grad_w


def _log_partition(f: Tensor, w: Tensor) -> Tensor:
    """log Σ_k exp⟨f_i, w_k⟩ of a few rows, tile by tile."""
    log_z = f.new_full((len(f),), -torch.inf)
    for labels in w.split(TILE_LABELS):
        log_z = torch.logaddexp(log_z, torch.logsumexp(f @ labels.mT, 1))
    return log_z
