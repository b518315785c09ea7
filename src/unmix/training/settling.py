"""Rows of a head that settle: neighbouring rows move together, and what one of them does alone counts less and less."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from unmix.model import Network
from unmix.objectives.cross_entropy import Head

WIDTH = 0.3  # of a row's neighbourhood, as a share of the rows' spread: the first value tried, and not tuned since


def own_share(progress: float, settles: float) -> float:
    """What a row does alone counts in full up to a share `settles` of the run, and as 1/t from then on.

    Examples
    --------
    >>> own_share(0.05, 0.1), own_share(0.5, 0.1)
    (1.0, 0.2)
    """
    return 1.0 if progress <= settles else settles / progress


def settle(network: Network, own: float) -> None:
    """Before a step: keep of each row's gradient what its neighbours share, and less and less of the rest.

    ĝ_i = ḡ_i + a (g_i − ḡ_i) takes the place of g_i, with ḡ the `neighbours_mean` of g and
    a = own · min(1, ‖ḡ‖ / ‖g − ḡ‖). Where labels are instances, rows of one class should coincide, but each has its own
    few draws: most of their noise is in g − ḡ. Neighbours are told by the rows alone. Rows of unit length are compared
    as such; what they share is the gradient of the weights behind them.

    Adam and SOAP divide each row's gradient by its size, which is mostly that of g − ḡ. So this is first made no larger
    than ḡ: then the step of a row by itself falls as `own` does, and k rows that coincide move together as one row
    would that had k times the draws.

    Stationary points stay: the eigenvalues of the averaging lie in [0, 1] and those of the whole map in [a, 1], so that
    Σ_i D_i ⟨g_i, ĝ_i⟩ ≥ a Σ_i D_i |g_i|² with D_i = Σ_j K_ij, and ĝ points down once each row is weighed by how many
    neighbours it has. (Without the weights it can point up a little, where crowded and lonely rows are neighbours.) New
    ones are only where a = 0: where the gradients of all neighbours cancel exactly, as the noise of a step does not let
    them.

    A head that is not trained is left alone.
    """
    if own == 1:
        return
    head = network.loss
    assert isinstance(head, Head)  # or the recipe would have refused the model
    if head.weight.grad is None:
        return
    with torch.no_grad():
        g = head.weight.grad
        shared = neighbours_mean(head.rows(), g)
        rest = g - shared
        a = own * (shared.norm() / rest.norm().clamp_min(torch.finfo(g.dtype).tiny)).clamp_max(1)
        head.weight.grad = shared + a * rest


def neighbours_mean(rows: Float[Tensor, "n d"], values: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Σ_j K_ij v_j / Σ_j K_ij with K_ij = exp(−|w_i − w_j|² / 2h²) and h² = 0.3² · mean_i |w_i − w̄|².

    As attention of rows to rows, because −|w_i − w_j|²/2 = ⟨w_i, w_j⟩ − |w_j|²/2 up to what all j share: torch's kernel
    for the CPU never holds K.

    Examples
    --------
    >>> rows = torch.tensor([[1.0, 0.0], [1.0, 0.001], [-1.0, 0.0]])
    >>> neighbours_mean(rows, torch.tensor([[2.0, 0.0], [4.0, 0.0], [9.0, 0.0]]))[:, 0].round(decimals=3).tolist()
    [3.0, 3.0, 9.0]
    """
    centred = rows - rows.mean(0)
    width = WIDTH * centred.square().sum(1).mean().sqrt()
    q = centred / width.clamp_min(torch.finfo(rows.dtype).tiny)  # where all rows are one, all are neighbours
    half = q.square().sum(1, keepdim=True) / 2
    query, key = torch.cat([q, torch.ones_like(half)], 1), torch.cat([q, -half], 1)
    value = pad(values, (0, 1))  # as wide as the keys: otherwise torch takes a path that holds K
    found: Tensor = scaled_dot_product_attention(query[None, None], key[None, None], value[None, None], scale=1.0)
    return found[0, 0, :, :-1]
