"""The compiled loops of a softmax over labels. Every inner loop runs along the labels and vectorises."""

from __future__ import annotations

import math

import numpy as np

from unmix.kernels.compiled import compiled, exp


@compiled
def partition_rows(f, w, with_gradient, grad_f, grad_w):  # type: ignore[no-untyped-def]
    """Σ_i log Σ_k exp⟨f_i, w_k⟩, and its gradients; f (b, d), w (d, n)."""
    d, n = w.shape
    s = np.empty(n, np.float32)
    total = 0.0
    for i in range(f.shape[0]):
        s[:] = 0
        for c in range(d):
            x, y = f[i, c], w[c]
            for k in range(n):
                s[k] += x * y[k]
        peak = s[0]
        for k in range(n):
            peak = max(peak, s[k])
        mass = np.float32(0)
        for k in range(n):
            s[k] = exp(s[k] - peak)
            mass += s[k]
        total += peak + math.log(mass)
        if not with_gradient:
            continue
        scale = np.float32(1) / mass
        for k in range(n):
            s[k] *= scale
        for c in range(d):
            x, y, g = f[i, c], w[c], grad_w[c]
            here = np.float32(0)
            for k in range(n):
                here += s[k] * y[k]
                g[k] += s[k] * x
            grad_f[i, c] = here
    return total


# Where the scores of one row do not fit into the cache, tiles of labels stand outside and rows inside, and every score
# is computed twice: for the partition, and then for the gradients. Both take the labels from `start` to `stop`.


@compiled
def partition_of_tiles(f, w, start, stop, tile, top, mass):  # type: ignore[no-untyped-def]
    """Write log Σ_k exp⟨f_i, w_k⟩ = top_i + log mass_i; f (b, d), w (d, n), top and mass (b,)."""
    b, d = f.shape
    s = np.empty(tile, np.float32)
    top[:], mass[:] = -np.inf, 0
    for first in range(start, stop, tile):
        m = min(tile, stop - first)
        for i in range(b):
            s[:] = 0
            for c in range(d):
                x, y = f[i, c], w[c, first : first + m]
                for k in range(m):
                    s[k] += x * y[k]
            peak = top[i]
            for k in range(m):
                peak = max(peak, s[k])
            here = np.float32(0)
            for k in range(m):
                here += exp(s[k] - peak)
            mass[i] = mass[i] * math.exp(top[i] - peak) + here
            top[i] = peak


@compiled
def partition_gradients(f, w, start, stop, tile, top, mass, grad_f, grad_w):  # type: ignore[no-untyped-def]
    """Add the gradients of Σ_i (top_i + log mass_i) for f (b, d) and for w (d, n)."""
    b, d = f.shape
    s = np.empty(tile, np.float32)
    for first in range(start, stop, tile):
        m = min(tile, stop - first)
        for i in range(b):
            s[:] = -top[i]
            for c in range(d):
                x, y = f[i, c], w[c, first : first + m]
                for k in range(m):
                    s[k] += x * y[k]
            scale = np.float32(1) / mass[i]
            for k in range(m):
                s[k] = scale * exp(s[k])
            for c in range(d):
                x, y, g = f[i, c], w[c, first : first + m], grad_w[c, first : first + m]
                here = np.float32(0)
                for k in range(m):
                    here += s[k] * y[k]
                    g[k] += s[k] * x
                grad_f[i, c] += here
