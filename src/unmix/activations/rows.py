"""How the output of a layer becomes rows of a table: one a row of the data, or one a token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmix.errors import require

Mask = Bool[Tensor, "n tokens"] | None


@runtime_checkable
class Rows(Protocol):
    """What `record` asks of a way to make rows."""

    def take(self, output: Float[Tensor, "n ..."], mask: Mask) -> Float[Tensor, "rows width"]:
        """The rows of a layer's output for n inputs; the mask says which tokens are real."""
        ...

    def labels(self, ids: list[str], mask: Mask, rows: int) -> tuple[list[str], list[str] | None]:
        """The rows' ids and, if rows belong together, their groups."""
        ...


class _OneAnInput:
    """Each input is one row, and its id is the row's."""

    def labels(self, ids: list[str], mask: Mask, rows: int) -> tuple[list[str], list[str] | None]:
        return ids, None


@dataclass(frozen=True)
class Flatten(_OneAnInput):
    """All axes after the first, one after the other: every number of the output.

    Examples
    --------
    >>> Flatten().take(torch.zeros(5, 3, 2, 2), None).shape
    torch.Size([5, 12])
    """

    def take(self, output: Float[Tensor, "n ..."], mask: Mask) -> Float[Tensor, "n width"]:
        return output.reshape(len(output), math.prod(output.shape[1:]))


@dataclass(frozen=True)
class Mean(_OneAnInput):
    """The mean over tokens or positions; padding does not count. An output of two axes stays as it is.

    Parameters
    ----------
    axes : to average over. By default axis 1 of (n, tokens, width) where a mask says that these are tokens, and axes
        2, … of (n, channels, height, width). Three axes without a mask may also be (n, channels, length): say which.

    Examples
    --------
    >>> Mean().take(torch.zeros(5, 3, 2, 2), None).shape, Mean((1,)).take(torch.zeros(5, 7, 4), None).shape
    (torch.Size([5, 3]), torch.Size([5, 4]))
    """

    axes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        require(all(a > 0 for a in self.axes), "Mean averages over axes 1, 2, …: axis 0 holds the rows.")

    def take(self, output: Float[Tensor, "n ..."], mask: Mask) -> Float[Tensor, "n width"]:
        if output.ndim <= 2:
            return Flatten().take(output, mask)
        require(
            bool(self.axes) or output.ndim != 3 or mask is not None,
            f"an output of shape {_shape(output)} may be tokens × width or channels × length: say Mean(axes=(1,)) or "
            "Mean(axes=(2,)), in the shell mean:1 or mean:2.",
        )
        axes = self.axes or ((1,) if output.ndim == 3 else tuple(range(2, output.ndim)))
        require(max(axes) < output.ndim, f"there is no axis {max(axes)} in an output of shape {_shape(output)}.")
        if mask is None or axes != (1,) or output.ndim != 3:
            return Flatten().take(output.mean(axes), mask)
        _require_tokens(output, mask)
        real = mask[..., None]
        return output.where(real, 0).sum(1) / real.sum(1)  # a product with the mask would let a NaN of padding through


@dataclass(frozen=True)
class LastToken(_OneAnInput):
    """The last real token of (n, tokens, width), whichever side the padding is on. Two axes stay as they are.

    Examples
    --------
    >>> output = torch.arange(6.0).reshape(1, 3, 2)
    >>> LastToken().take(output, torch.tensor([[True, True, False]]))
    tensor([[2., 3.]])
    """

    def take(self, output: Float[Tensor, "n ..."], mask: Mask) -> Float[Tensor, "n width"]:
        if output.ndim <= 2:
            return Flatten().take(output, mask)
        _require_tokens(output, mask)
        if mask is None:
            return output[:, -1]
        places = torch.arange(mask.shape[1], device=mask.device)
        return output[torch.arange(len(output), device=output.device), (places * mask).argmax(1)]


@dataclass(frozen=True)
class EachToken:
    """A row for each real token of (n, tokens, width), with the id `input/token` and the input as its group.

    Tokens are counted without padding, so two models whose batches were padded differently have the same ids.

    Examples
    --------
    >>> mask = torch.tensor([[True, True, True], [True, False, False]])
    >>> EachToken().take(torch.zeros(2, 3, 8), mask).shape
    torch.Size([4, 8])
    >>> EachToken().labels(["a", "b"], mask, 4)
    (['a/0', 'a/1', 'a/2', 'b/0'], ['a', 'a', 'a', 'b'])
    """

    def take(self, output: Float[Tensor, "n ..."], mask: Mask) -> Float[Tensor, "rows width"]:
        _require_tokens(output, mask)
        return output.flatten(0, 1) if mask is None else output[mask]

    def labels(self, ids: list[str], mask: Mask, rows: int) -> tuple[list[str], list[str] | None]:
        counts = [rows // len(ids)] * len(ids) if mask is None else mask.sum(1).tolist()
        groups = [name for name, count in zip(ids, counts, strict=True) for _ in range(count)]
        return [f"{name}/{token}" for name, count in zip(ids, counts, strict=True) for token in range(count)], groups


def _require_tokens(output: Tensor, mask: Mask) -> None:
    """Refuse an output that has no axis of tokens, or not those of the mask."""
    require(output.ndim == 3, f"it gives {_shape(output)}, without an axis of tokens: take Flatten() or Mean().")
    if mask is None:
        return
    require(
        mask.shape == output.shape[:2],
        f"it gives {_shape(output)} and the attention mask is {_shape(mask)}: take a layer that keeps all tokens.",
    )
    require(bool(mask.any(1).all()), "an input has no token that is not padding: leave it out.")


def _shape(tensor: Tensor) -> str:
    return "×".join(map(str, tensor.shape))
