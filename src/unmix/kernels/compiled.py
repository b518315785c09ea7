"""The compiled loops of InfoNCE, and what they are made of. It imports numba, so it is imported when first needed.

Every inner loop runs along the negatives and vectorises; exponential and logarithm are polynomials because the
library's would not.
"""

from __future__ import annotations

import math

import numpy as np

from unmix.kernels.jit import jit

compiled = jit(fastmath={"contract", "reassoc", "nsz", "arcp"}, error_model="numpy")  # NaN and infinity stay


@compiled
def exp(x):  # type: ignore[no-untyped-def]
    """exp(x) to about 1e-7 for −60 < x < 80, as 2^n times a polynomial; 0 below, where softmax weights are lost."""
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
    bounded = min(max(n, np.float32(-120.0)), np.float32(120.0))
    exponent = (np.int32(bounded) + np.int32(127)) << np.int32(23)
    return np.float32(0.0) if x <= np.float32(-60.0) else y * np.int32(exponent).view(np.float32)


@compiled
def log(x):  # type: ignore[no-untyped-def]
    """log(x) to about 1e-7 for normal x > 0: the exponent, and a polynomial in the mantissa around 1."""
    bits = np.float32(x).view(np.int32)
    shifted = bits - np.int32(0x3F3504F3)  # of √½, so that the mantissa lies in [√½, √2)
    e = shifted >> np.int32(23)
    m = np.int32(bits - (e << np.int32(23))).view(np.float32) - np.float32(1.0)
    y = np.float32(7.0376836292e-2)
    y = y * m - np.float32(1.1514610310e-1)
    y = y * m + np.float32(1.1676998740e-1)
    y = y * m - np.float32(1.2420140846e-1)
    y = y * m + np.float32(1.4249322787e-1)
    y = y * m - np.float32(1.6668057665e-1)
    y = y * m + np.float32(2.0000714765e-1)
    y = y * m - np.float32(2.4999993993e-1)
    y = y * m + np.float32(3.3333331174e-1)
    y = y * m * m * m - np.float32(0.5) * m * m
    k = np.float32(e)
    return (y - k * np.float32(2.12194440e-4)) + m + k * np.float32(0.693359375)


@compiled
def contrastive_rows(power, a, n, s, energy, group, start, stop, with_gradient, grad_a, grad_n, grad_s):  # type: ignore[no-untyped-def]
    """Rows `start` to `stop` of the contrastive sum, and their share of the gradients.

    `power` is the exponent of the distance, 0 for the dot product; a (b, d), n (d, b), s (b,). With an `energy` above 0
    the positive is left out, s is 0, and where all similarities of a row are below −`energy`, they are scaled so that
    the largest is.
    """
    d = n.shape[0]
    p = np.float32(power)
    alone = energy > 0
    tiny = np.float32(1e-30)  # |x − y| is raised to this at least, so that its logarithm exists
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
                    w[j] -= exp(p * log(max(abs(x - y[j]), tiny)))
        own = i - first
        # An anchor is never its own negative: the positive takes its place.
        w[own] = np.float32(-np.inf) if alone else s[i]
        peak = w[0]
        for j in range(group):
            peak = max(peak, w[j])
        mass = np.float32(0)
        wide = np.float32(1)
        if alone and -peak > energy:
            wide = np.float32(energy) / -peak
            for j in range(group):
                w[j] *= wide
            peak *= wide
        for j in range(group):
            w[j] = exp(w[j] - peak)
            mass += w[j]
        total += (peak - s[i]) + math.log(mass)
        if not with_gradient:
            continue
        scale = np.float32(1) / mass
        for j in range(group):
            w[j] *= scale
        grad_s[i] = w[own] - np.float32(1)
        if alone:
            for j in range(group):
                w[j] *= wide
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
                    slope = exp((p - np.float32(1)) * log(max(abs(t), tiny)))
                    t = p * w[j] * slope * np.sign(t)
                    here -= t
                    g[j] += t
            grad_a[i, c] = here
    return total
