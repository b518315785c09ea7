"""Outputs for targets, one to one; outputs that are copies of one another count as one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float64
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from unmix.moments import Moments

COPY = 0.9  # the |correlation| from which two outputs for one target are copies
Match = tuple[int, list[int]]  # a target, and its output with the copies of that output


def matched(m: Moments, gain: Float64[ndarray, "k d"]) -> list[Match]:
    """The one-to-one matching with the largest total gain, each output with its copies among those left over.

    Two noisy copies of each latent say more together than one, and which of the two is matched must not differ from
    latent to latent: the noise of unlike copies does not cancel in differences of correlated latents.
    """
    used, targets = linear_sum_assignment(gain, maximize=True)
    found = {int(t): [int(k)] for t, k in zip(targets, used, strict=True)}
    left = np.setdiff1d(np.arange(len(gain)), used)
    while len(left):
        more, targets = linear_sum_assignment(gain[left], maximize=True)
        copies = [(k, t) for k, t in zip(left[more].tolist(), targets.tolist(), strict=True) if _copy(m, k, found[t])]
        if not copies:
            break
        for k, t in copies:
            found[t].append(k)
        left = np.setdiff1d(left, [k for k, _ in copies])
    return list(found.items())


def signed_mean(m: Moments, matches: list[Match], scale: float) -> Float64[ndarray, "d k"]:
    """Each target as ± its output times a scale; a copy is averaged in where that lessens the squared error."""
    a = np.zeros(m.xy.T.shape)
    for target, outputs in matches:
        best = np.inf
        for some in _prefixes(outputs):
            sign = np.where(m.xy[some, target] < 0, -1.0, 1.0) * scale / len(some)
            error = sign @ m.xx[np.ix_(some, some)] @ sign - 2 * sign @ m.xy[some, target]
            if error < best:
                best, a[target] = error, 0.0
                a[target, some] = sign
    return a


def _prefixes(outputs: list[int]) -> Iterator[list[int]]:
    return (outputs[: i + 1] for i in range(len(outputs)))


def _copy(m: Moments, output: int, others: list[int]) -> bool:
    """Whether an output correlates highly with each of the others, about the means."""
    xx = (m.centred or m).xx
    size = np.sqrt(xx[output, output] * np.diag(xx)[others])
    return bool((np.abs(xx[output, others]) >= COPY * size).all() and size.all())
