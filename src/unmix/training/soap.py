"""SOAP: Adam in the eigenbasis of Shampoo's preconditioner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

LARGEST = 256  # a longer side of a matrix keeps its own axes: bases cost the cube of it


class Soap(torch.optim.Optimizer):
    """Vyas et al. 2024, *SOAP: Improving and Stabilizing Shampoo using Adam*, arXiv 2409.11321.

    For a weight matrix W with gradient G, running means L of G Gᵀ and R of Gᵀ G have eigenvectors U and V. Adam works
    on the turned gradient Uᵀ G V, and its step is turned back. U and V follow L and R by one step of orthogonal
    iteration every `every` steps, from the identity on. What is no matrix is left to Adam.

    All state is tensors, under one key each, so that a checkpoint is a plain file of tensors.

    Parameters
    ----------
    betas : of Adam's running means, of the gradient and of its square.
    memory : of the running means L and R.
    every : steps between updates of U and V.
    sides : which of U (0) and V (1) there are; a group of weights may have its own.

    Examples
    --------
    >>> weight = torch.nn.Parameter(torch.eye(3))
    >>> optimiser = Soap([weight], lr=0.1)
    >>> for _ in range(50):
    ...     optimiser.zero_grad()
    ...     weight.square().sum().backward()
    ...     optimiser.step()
    >>> bool(weight.abs().max() < 0.1)
    True
    """

    def __init__(
        self,
        params: Any,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.99),
        memory: float = 0.95,
        every: int = 10,
        sides: tuple[int, ...] = (0, 1),
        eps: float = 1e-8,
    ) -> None:
        options = {"lr": lr, "betas": betas, "memory": memory, "every": every, "sides": sides, "eps": eps}
        super().__init__(params, options)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of every weight that has a gradient; there is no use for a closure."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._move(weight, weight.grad, group)

    def _move(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weight]
        if not state:
            state |= {"step": torch.zeros(()), "mean": torch.zeros_like(weight), "square": torch.zeros_like(weight)}
        state["step"] += 1
        t = int(state["step"])
        for side in group["sides"] if weight.ndim == 2 else ():
            if weight.shape[side] <= LARGEST:
                _follow(state, side, gradient, group, t)

        beta, beta_square = group["betas"]
        state["mean"].lerp_(gradient, 1 - beta)
        turned, mean = _turned(torch.stack([gradient, state["mean"]]), state)
        state["square"].mul_(beta_square).addcmul_(turned, turned, value=1 - beta_square)
        root = (state["square"] / (1 - beta_square**t)).sqrt_().add_(group["eps"])
        weight.sub_(_turned_back(mean / root, state), alpha=group["lr"] / (1 - beta**t))


def _follow(state: dict[str, Tensor], side: int, gradient: Tensor, group: dict[str, Any], t: int) -> None:
    """Update L or R, and now and then its eigenvectors."""
    product = gradient @ gradient.mT if side == 0 else gradient.mT @ gradient
    covariance, basis = f"covariance{side}", f"basis{side}"
    if t == 1:
        state[covariance] = product
        state[basis] = torch.eye(len(product), dtype=product.dtype, device=product.device)
        return
    state[covariance].lerp_(product, 1 - group["memory"])
    if t % group["every"]:
        return
    ahead = state[covariance] @ state[basis]
    # The largest eigenvalue first: orthogonal iteration converges in the order of the columns.
    order = (state[basis] * ahead).sum(0).argsort(descending=True)
    state["square"] = state["square"].index_select(side, order)
    state[basis] = torch.linalg.qr(ahead[:, order]).Q.contiguous()  # as a checkpoint brings it back, to the last bit


def _turned(x: Tensor, state: dict[str, Tensor]) -> Tensor:
    x = state["basis0"].mT @ x if "basis0" in state else x
    return x @ state["basis1"] if "basis1" in state else x


def _turned_back(x: Tensor, state: dict[str, Tensor]) -> Tensor:
    x = state["basis0"] @ x if "basis0" in state else x
    return x @ state["basis1"].mT if "basis1" in state else x
