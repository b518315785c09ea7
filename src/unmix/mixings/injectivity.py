"""Whether a mixing tells all latents apart: what every theorem assumes, and what a check of a drawn map can show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.mixings.conditioning import FAINT, margin
from unmix.mixings.identity import Identity
from unmix.mixings.layered import LayeredMap
from unmix.mixings.linear import Linear
from unmix.mixings.mlp import MLP
from unmix.mixings.smooth import Smooth
from unmix.spaces import Box, Space, Sphere

BY_CONSTRUCTION = (Identity, Linear, MLP, Smooth)  # a subclass may draw something else
POINTS = 1001  # at which the function between layers is looked at
FEW = 128  # latents whose Jacobian is taken
APART = 0.1  # of their length: latents that are nearer may look the same by rounding


@dataclass(frozen=True)
class Injectivity:
    """What is known.

    Attributes
    ----------
    holds : True, False, or None where neither is known.
    seen : how it is known, in words.
    """

    holds: bool | None
    seen: str = ""


def check_injectivity(
    g: Callable[[Tensor], Tensor], z: Float[Tensor, "n d"], space: Space, declared: bool | None = None
) -> Injectivity:
    """Look for latents that a continuous map does not tell apart.

    What refutes: two different latents of one observation (among reflections and exchanges of coordinates), a Jacobian
    that is singular where latents are drawn, or one whose determinant has both signs in a box or in R^d (an injective
    continuous map of a connected open set keeps one orientation). What confirms: invertible layers with a strictly
    monotone function between them; the mixing's own word, `injective = True`, which nothing seen contradicts; or an
    `inverse` that undoes the map at all of n latents, so that (with 95 % confidence) it does at all but a share 3/n of
    them. A Jacobian of full rank confirms nothing: it is about neighbours only.

    Parameters
    ----------
    g : the map.
    z : latents, as they are drawn.
    declared : what the mixing says of itself.

    Examples
    --------
    >>> z = Box(2, -1.0, 1.0).uniform(100, torch.Generator().manual_seed(0), torch.float64)
    >>> check_injectivity(torch.abs, z, Box(2, -1.0, 1.0))
    Injectivity(holds=False, seen='z and −z look the same')
    >>> check_injectivity(torch.exp, z, Box(2, -1.0, 1.0)).holds is None
    True
    """
    if declared is False:
        return Injectivity(False, "the mixing says so of itself")
    if type(g) is LayeredMap:
        return _layers(g, z)
    found = _refuted(g, z, space)
    if found:
        return Injectivity(False, found)
    if declared:
        return Injectivity(True, f"as the mixing says of itself; nothing at {len(z):,} latents contradicts it")
    if _undone(g, z):
        share = 100 * 3 / len(z)
        return Injectivity(True, f"its inverse undoes it at all of {len(z):,} latents: at all but {share:.1g} %")
    return Injectivity(
        None,
        f"{len(z):,} latents do not speak against it, which proves nothing; if you know it, say `injective = True` in "
        "the mixing",
    )


def _layers(g: LayeredMap, z: Tensor) -> Injectivity:
    """Of square layers and a function between them this is decided: by rank, and by a look along the function."""
    margins, u = [], z.double()
    for number, w in enumerate(g.weights, 1):
        margins.append(margin(w))
        if margins[-1] <= len(w) * torch.finfo(torch.float64).eps:
            return Injectivity(False, f"layer {number} is singular")
        u = u @ w.mT
        if number < len(g.weights):
            between = torch.linspace(float(u.min()), float(u.max()), POINTS, dtype=torch.float64)
            steps = g.bend(between).diff()
            if not (bool((steps > 0).all()) or bool((steps < 0).all())):
                return Injectivity(False, f"the function after layer {number} is not strictly monotone")
            u = g.bend(u)
    faint = f": only just, the smallest singular value of a layer is {min(margins):.1g} of its largest"
    return Injectivity(True, "invertible layers" + (faint if min(margins) < FAINT else ""))


def _refuted(g: Callable[[Tensor], Tensor], z: Tensor, space: Space) -> str:
    """Why the map is not injective, if it is seen."""
    x = g(z)
    if not (isinstance(x, Tensor) and x.is_floating_point() and x.ndim == 2 and bool(x.isfinite().all())):
        return ""
    eps, double = torch.finfo(x.dtype).eps, x.dtype == torch.float64
    j = _jacobian(g, z[:FEW])
    for name, rows, other in _twins(z, space, j):
        gap = (g(other) - x[rows]).norm(dim=1) / x[rows].norm(dim=1).clamp_min(1e-300)
        apart = (other - z[rows]).norm(dim=1) > APART * z[rows].norm(dim=1).mean()
        if bool((apart & (gap <= (64 if double else 2) * eps)).any()):
            return f"{name} look the same"
    if j is None:
        return ""
    tangent = j @ _tangents(z[:FEW]).double() if isinstance(space, Sphere) else j
    margins = torch.tensor([margin(t) for t in tangent])
    lost = int((margins <= 64 * eps).sum())
    if lost and double:  # in single precision an ill-conditioned Jacobian cannot be told from a singular one
        return f"its Jacobian is singular at {lost} of {len(j)} latents"
    if not isinstance(space, Sphere) and j.shape[1] == j.shape[2]:
        signs = torch.linalg.slogdet(j).sign[margins > math.sqrt(eps)]
        if bool((signs > 0).any() and (signs < 0).any()):
            return "it folds: the determinant of its Jacobian has both signs"
    return ""


def _twins(z: Tensor, space: Space, j: Tensor | None) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Pairs of latents that maps with a symmetry confuse: (name, which rows, their twins), inside the space."""
    d, few = z.shape[1], z[:FEW]
    for centre in dict.fromkeys((0.0, (space.low + space.high) / 2) if isinstance(space, Box) else (0.0,)):
        about = f" about {centre:g}" if centre else ""
        yield from _inside(f"z and −z{about}", 2 * centre - z, space)
        for k in range(d):
            other = few.clone()
            other[:, k] = 2 * centre - few[:, k]
            yield from _inside(f"latent {k + 1} and its negative{about}", other, space)
    for a, b in combinations(range(d), 2):
        order = list(range(d))
        order[a], order[b] = b, a
        yield from _inside(f"latents {a + 1} and {b + 1} and their exchange", few[:, order], space)
    if j is not None and isinstance(space, Sphere):  # where g does not change along n, the reflection across n does it
        normal = torch.linalg.svd(j)[2][:, -1].to(few.dtype)
        flat = few - 2 * (few * normal).sum(1, keepdim=True) * normal
        yield from _inside("z and its reflection", flat, space)


def _inside(name: str, other: Tensor, space: Space) -> Iterator[tuple[str, Tensor, Tensor]]:
    every = space.contains(other)
    rows = torch.tensor([every or space.contains(row[None]) for row in other])
    if bool(rows.any()):
        yield name, rows.nonzero()[:, 0], other[rows]


def _jacobian(g: Callable[[Tensor], Tensor], z: Tensor) -> Tensor | None:
    """J[n, i, k] = ∂g_i/∂z_k by autograd; None where the map has no gradient."""
    try:
        rows = torch.autograd.functional.jacobian(lambda u: g(u).sum(0), z, strict=True)
    except RuntimeError:
        return None
    j = rows.transpose(0, 1).double()
    return j if bool(j.isfinite().all()) else None


def _tangents(z: Tensor) -> Tensor:
    """An orthonormal basis of the directions that stay on the sphere, (n, d, d − 1)."""
    return torch.linalg.svd(z[:, None])[2][:, 1:].mT


def _undone(g: Any, z: Tensor) -> bool:
    """Whether the map has an inverse that gives the latents back."""
    inverse = getattr(g, "inverse", None)
    if not callable(inverse):
        return False
    back = inverse(g(z))
    close = isinstance(back, Tensor) and back.shape == z.shape
    return close and bool((back - z).abs().max() <= math.sqrt(torch.finfo(back.dtype).eps) * z.abs().max())
