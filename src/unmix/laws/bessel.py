"""The logarithm of the modified Bessel function, where scipy's own would underflow."""

from __future__ import annotations

import math

import numpy as np
import scipy.special


def log_bessel(order: float, x: float) -> float:
    """log I_ν(x) for ν ≥ 0, x > 0.

    `scipy.special.ive` where it has not underflowed; else the logarithm of the power series
    I_ν(x) = Σ_k (x/2)^{2k+ν} / (k! Γ(ν+k+1)), whose terms are all positive.

    Examples
    --------
    >>> round(log_bessel(0.5, 2.0), 10) == round(math.log(math.sqrt(1 / math.pi) * math.sinh(2.0)), 10)
    True
    >>> log_bessel(5000.0, 1.0) < -40000  # I itself is 0 in float64
    True
    """
    scaled = float(scipy.special.ive(order, x))
    if scaled > 1e-290 and math.isfinite(scaled):
        return math.log(scaled) + x
    largest = (math.sqrt(order * order + x * x) - order) / 2  # index of the largest term
    k = np.arange(0, 2 * largest + 60 + 12 * math.sqrt(largest + 1))
    terms = (2 * k + order) * math.log(x / 2) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(order + k + 1)
    return float(scipy.special.logsumexp(terms))
