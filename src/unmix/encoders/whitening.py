"""Whitening of observations, as a fixed first layer."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.errors import require


class Whitening(nn.Module):
    """x → C^{-1/2} (x − m), with m and C the mean and covariance of a sample of observations.

    It uses observations only, is set once before training and belongs to the model.
    Directions without variance are dropped to zero rather than blown up.

    Examples
    --------
    >>> x = torch.randn(1000, 2, generator=torch.Generator().manual_seed(0)) @ torch.tensor([[2.0, 1], [0, 3]])
    >>> white = Whitening(x)(x)
    >>> bool(torch.allclose(white.T @ white / 1000, torch.eye(2), atol=1e-2))
    True
    """

    mean: Tensor
    matrix: Tensor

    def __init__(self, x: Float[Tensor, "n d"]) -> None:
        super().__init__()
        require(
            len(x) > x.shape[1] and bool(x.isfinite().all()),
            f"whitening needs more rows than columns, all finite; it got {len(x)} rows of {x.shape[1]} columns: "
            "take more whitening rows, or laws of a smaller scale.",
        )
        wide = x.double()
        mean = wide.mean(0)
        values, vectors = torch.linalg.eigh(torch.cov(wide.mT, correction=0).reshape(x.shape[1], -1))
        seen = values > values.max() * 1e-12
        root = torch.where(seen, values.clamp_min(1e-300).rsqrt(), 0.0)
        self.register_buffer("mean", mean.to(x.dtype))
        self.register_buffer("matrix", ((vectors * root) @ vectors.mT).to(x.dtype))

    def forward(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        return (x - self.mean) @ self.matrix
