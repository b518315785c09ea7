"""The density of centre + noise after projection to a sphere."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.spaces import Sphere

DROP = 45.0  # the integrand is cut where it is e^-45 of its peak
PIECES, NODES, ROWS = 8, 12, 1024


def projected_log_prob(
    noise: torch.distributions.Distribution,
    power: float,
    spread: float,
    sphere: Sphere,
    z: Float[Tensor, "n d"],
    centre: Float[Tensor, "n d"],
) -> Float[Tensor, " n"]:
    """log p(z) for z = r y/‖y‖, y = centre + noise: the mass along the ray through z.

    p(z) = r^{1-d} ∫_0^∞ t^{d-1} Π_k p_noise(t z_k/r − c_k) dt, by Gauss-Legendre quadrature around the
    peak of the integrand, split where a coordinate of the noise changes sign (a kink for p = 1).
    For p ≥ 1 the integrand is log-concave in t, so there is one peak; p < 1 is refused.
    """
    require(
        power >= 1,
        f"the density of a projected law with exponent {power:g} < 1 is not available: take an exponent ≥ 1.",
    )
    parts = zip(z.split(ROWS), centre.split(ROWS), strict=True)  # the quadrature's nodes need memory
    return torch.cat([_on_rays(noise, spread, sphere, *part) for part in parts])


def _on_rays(
    noise: torch.distributions.Distribution, spread: float, sphere: Sphere, z: Tensor, centre: Tensor
) -> Tensor:
    u = z / sphere.radius
    d = u.shape[-1]

    def log_integrand(t: Tensor) -> Tensor:  # (n, m) -> (n, m)
        return (d - 1) * t.log() + noise.log_prob(t[..., None] * u[:, None] - centre[:, None]).sum(-1)

    reach = centre.norm(dim=-1) + 50 * spread * d + 1e-300
    low, high = torch.zeros_like(reach), reach
    for _ in range(120):  # golden-section search for the peak of a concave function
        third = (high - low) * 0.381966
        left, right = low + third, high - third
        values = log_integrand(torch.stack([left, right], -1))
        up = values[:, 0] < values[:, 1]
        low, high = torch.where(up, left, low), torch.where(up, high, right)
    peak = (low + high) / 2
    top = log_integrand(peak[:, None])[:, 0]

    def edge(inner: Tensor, outer: Tensor) -> Tensor:
        for _ in range(80):
            middle = (inner + outer) / 2
            kept = log_integrand(middle[:, None])[:, 0] > top - DROP
            inner, outer = torch.where(kept, middle, inner), torch.where(kept, outer, middle)
        return outer

    start, stop = edge(peak, torch.zeros_like(peak)), edge(peak, reach * 4)
    even = torch.linspace(0, 1, PIECES + 1, dtype=torch.float64)
    half_left = start[:, None] + (peak - start)[:, None] * even
    half_right = peak[:, None] + (stop - peak)[:, None] * even
    kinks = torch.nan_to_num(centre / u, nan=0.0, posinf=0.0, neginf=0.0)
    kinks = torch.minimum(torch.maximum(kinks, start[:, None]), stop[:, None])
    cuts = torch.cat([half_left, half_right, kinks], -1).sort(-1).values
    x, w = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(NODES))
    a, b = cuts[:, :-1, None], cuts[:, 1:, None]
    t = (a + b) / 2 + (b - a) / 2 * x
    log_weight = torch.log((b - a) / 2 * w)
    log_terms = log_integrand(t.flatten(1).clamp_min(1e-300)) + log_weight.flatten(1)
    return torch.logsumexp(log_terms, -1) - (d - 1) * float(np.log(sphere.radius))
