"""Square matrices with an elementwise bijection between them: what every mixing here is once drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class Bend(Protocol):
    """A strictly increasing elementwise function."""

    def __call__(self, u: Tensor) -> Tensor: ...
    def inverse(self, y: Tensor) -> Tensor: ...
    def derivative(self, u: Tensor) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class LayeredMap:
    """g(z) = W_L φ(W_{L−1} ⋯ φ(W_1 z)), with its exact inverse and Jacobian.

    Everything is computed in float64 and returned in the dtype of the input, so the error of
    inverse∘g is that of storing x: about ‖J⁻¹‖ times the precision of the dtype.

    Examples
    --------
    >>> from unmix.mixings import MLP
    >>> g = MLP(layers=3, pool=100).draw(4, torch.Generator().manual_seed(0))
    >>> z = torch.rand(5, 4, dtype=torch.float64)
    >>> bool(torch.allclose(g.inverse(g(z)), z, atol=1e-10))
    True
    """

    weights: tuple[Float[Tensor, "d d"], ...]
    bend: Bend

    def __call__(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        u = z.double() @ self.weights[0].mT
        for w in self.weights[1:]:
            u = self.bend(u) @ w.mT
        return u.to(z.dtype)

    def inverse(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        u = x.double()
        for w in reversed(self.weights[1:]):
            u = self.bend.inverse(torch.linalg.solve(w, u.mT).mT)
        return torch.linalg.solve(self.weights[0], u.mT).mT.to(x.dtype)

    def jacobian(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d d"]:
        """J[n, i, k] = ∂g_i/∂z_k at each row."""
        u = z.double() @ self.weights[0].mT
        j = self.weights[0].expand(len(z), -1, -1)
        for w in self.weights[1:]:
            j = w @ (self.bend.derivative(u)[..., None] * j)
            u = self.bend(u) @ w.mT
        return j.to(z.dtype)


@runtime_checkable
class Mixing(Protocol):
    """A description from which mixings can be drawn."""

    def draw(self, dimension: int, generator: torch.Generator) -> LayeredMap:
        """A map of R^dimension that depends on the generator alone."""
        ...
