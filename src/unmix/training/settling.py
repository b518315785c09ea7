"""Rows of a head that settle: what neighbouring rows learn together stays quick, what one learns alone is averaged."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from unmix.model import Network
from unmix.objectives.cross_entropy import Head

WIDTH = 0.3  # of the neighbourhood of a row, as a share of the rows' spread


def settle(network: Network, among: Tensor | None, own: float) -> None:
    """Before a step: keep of each row's gradient what its neighbours share, and a share `own` of the rest.

    g_i ← ḡ_i + own · (g_i − ḡ_i) with ḡ = `neighbours_mean` of g, for the rows of the labels `among` (None is all).
    Where labels are instances, rows of one class should coincide, but each has its own few draws: their noise is in
    g − ḡ, and what the encoder asks of them in ḡ. Nobody says which rows are of one class.

    The stationary points stay: the eigenvalues of the averaging lie in (0, 1], those of the whole map in [own, 1], so
    what comes out is zero only where the gradient is. A model without a head is left alone.
    """
    head = network.loss
    if own == 1 or not isinstance(head, Head):
        return
    gradient = head.weight.grad
    assert gradient is not None
    with torch.no_grad():
        g = gradient if among is None else gradient[among]
        shared = neighbours_mean(head.rows(among), g)
        settled = shared + own * (g - shared)
        head.weight.grad = settled if among is None else gradient.index_copy(0, among, settled)


def neighbours_mean(rows: Float[Tensor, "n d"], values: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Σ_j K_ij v_j / Σ_j K_ij with K_ij = exp(−|w_i − w_j|² / 2h²), h² a share of the rows' mean squared spread.

    As attention of rows to rows, −|w_i − w_j|²/2 = ⟨w_i, w_j⟩ − |w_j|²/2 up to what all j share: torch never holds K.

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
