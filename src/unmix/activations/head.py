"""The last linear layer of a classifier or a language model: its input is f, its weights are g."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor, nn

from unmix.activations.layers import layer_named, layers_of
from unmix.errors import InputError, require


@dataclass(frozen=True, eq=False)
class Head:
    """Logits f(x)ᵀg(y) + b(y): f is what the layer is given, g and b are its weights.

    Attributes
    ----------
    name : of the layer.
    g : (labels, width).
    bias : (labels,), if it has one.
    """

    name: str
    g: Float[ndarray, "labels width"]
    bias: Float[ndarray, " labels"] | None

    def is_of(self, model: nn.Module) -> bool:
        """Whether the model's layer of this name has these weights."""
        if not isinstance(layer_named(model, self.name), nn.Linear):
            return False
        now = head(model, self.name)
        if self.bias is None or now.bias is None:
            return now.bias is self.bias and np.array_equal(now.g, self.g, equal_nan=True)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in ((now.g, self.g), (now.bias, self.bias)))


def head(model: nn.Module, name: str | None = None) -> Head:
    """The head of a model: the layer of that name, or else the one that turns features into logits.

    That is the output embedding of a Hugging Face model, and of others the last `torch.nn.Linear` that was defined: if
    the model uses another one last, name it. `record` sees on the first batch whether f·g + b are the model's logits.

    References
    ----------
    Roeder, Metz & Kingma 2021, section 3: models of the canonical form.

    Examples
    --------
    >>> found = head(nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 10)))
    >>> found.name, found.g.shape, found.bias.shape
    ('2', (10, 3), (10,))
    """
    name = _found(model) if name is None else name
    layer = layer_named(model, name)
    require(
        isinstance(layer, nn.Linear),
        f"layer {name} is a {type(layer).__name__}: name a torch.nn.Linear, whose outputs are f·g + bias.",
    )
    assert isinstance(layer, nn.Linear)
    return Head(name, array_of(layer.weight), None if layer.bias is None else array_of(layer.bias))


def _found(model: nn.Module) -> str:
    layers = layers_of(model)  # refuses what is no module
    unembedding = getattr(model, "get_output_embeddings", lambda: None)()
    linear = [name for name in layers if isinstance(layer_named(model, name), nn.Linear)]
    same = [name for name in linear if layer_named(model, name) is unembedding]
    if not linear:
        raise InputError("the model has no torch.nn.Linear that could be its head: record layers instead of f.")
    return (same or linear)[-1]


def array_of(weights: Tensor) -> Float[ndarray, ...]:
    """A copy, in float32 or, of a double, float64."""
    return weights.detach().to("cpu", torch.promote_types(weights.dtype, torch.float32), copy=True).numpy()
