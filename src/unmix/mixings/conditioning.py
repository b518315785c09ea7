"""How far a matrix is from losing rank, and random matrices that are far from it: the best of a pool."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require

WORK = 25_000 * 20**3  # entries × dimension at which a full pool still takes about a second
FAINT = 1e-6  # of the largest singular value: float32, in which networks are trained, resolves 1e-7


def margin(table: Float[Tensor, "n m"]) -> float:
    """The smallest singular value as a share of the largest; 0 where rows are too few for full column rank.

    A rank is a yes or a no, also for vectors that lie within 1e-9 of a hyperplane; the margin says by how much.

    Examples
    --------
    >>> margin(torch.diag(torch.tensor([2.0, 1e-9], dtype=torch.float64)))
    5e-10
    """
    values = torch.linalg.svdvals(table)
    return 0.0 if len(table) < table.shape[1] else float(values[-1] / values[0].clamp_min(1e-300))


def best_conditioned(
    dimension: int, count: int, pool: int, generator: torch.Generator
) -> tuple[Float[Tensor, "d d"], ...]:
    """`count` matrices, each the best-conditioned of its own pool of draws.

    Entries are U(−1, 1) and columns have unit length, as in the official code of Zimmermann et al. 2021,
    which instead redraws until a threshold is met and so has no bounded time. From dimension 21 on the
    pool shrinks so that pool × d³ stays bounded; the draw depends on the generator alone.
    """
    require(pool >= 1, f"the pool of matrices needs at least one draw, not {pool}.")
    draws = max(1, min(pool, WORK // dimension**3))
    return tuple(_best(dimension, draws, generator) for _ in range(count))


def _best(dimension: int, draws: int, generator: torch.Generator) -> Tensor:
    w = 2 * torch.rand(draws, dimension, dimension, generator=generator, dtype=torch.float64) - 1
    w = w / w.norm(dim=-2, keepdim=True)
    spectrum = torch.linalg.eigvalsh(w.mT @ w)  # ascending squared singular values
    return w[(spectrum[:, -1] / spectrum[:, 0].clamp_min(1e-300)).argmin()].clone()
