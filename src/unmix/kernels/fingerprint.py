"""A hash of each row, to find rows that are there twice."""

from __future__ import annotations

import numpy as np

from unmix.kernels.jit import jit


@jit()
def fingerprint(bits, out):  # type: ignore[no-untyped-def]  # compiled
    """Mix the words of each row into out[i] (FNV-1a, a word at a time, and a final shift)."""
    for i in range(bits.shape[0]):
        h = out[i]
        for j in range(bits.shape[1]):
            h = (h ^ np.uint64(bits[i, j])) * np.uint64(0x100000001B3)
            h ^= h >> np.uint64(29)
        out[i] = h
