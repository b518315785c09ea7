"""The door of the laws: centres and points must lie in the space."""

from __future__ import annotations

from torch import Tensor

from unmix.errors import require
from unmix.spaces import Space

ROUNDING = 1e-4  # what float32 latents may be off


def require_inside(space: Space, rows: Tensor, what: str) -> None:
    """Refuse rows of another width or outside the space."""
    require(
        isinstance(rows, Tensor) and rows.ndim == 2 and rows.shape[1] == space.dimension,
        f"{what} must be a tensor of rows in {space.dimension} dimensions, not {_shape(rows)}.",
    )
    require(space.contains(rows, ROUNDING), f"{what} must lie in the space ({space}): project or draw it there.")


def _shape(rows: object) -> str:
    return f"one of shape {tuple(rows.shape)}" if isinstance(rows, Tensor) else f"a {type(rows).__name__}"
