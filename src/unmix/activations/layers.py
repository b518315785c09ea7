"""Layers of a network by name, and what they give while the network runs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from unmix.activations.batches import Batches, Call, comes_in_batches, run
from unmix.errors import InputError, require, require_kind


def layers_of(model: nn.Module) -> dict[str, str]:
    """The names of a network's layers, in the order in which they were defined, and what each is.

    Examples
    --------
    >>> layers_of(nn.Sequential(nn.Linear(3, 4), nn.ReLU()))
    {'0': 'Linear', '1': 'ReLU'}
    """
    require_kind(model, nn.Module, "the model", "a torch.nn.Module")
    return {name: type(module).__name__ for name, module in model.named_modules() if name}


def shapes_of(model: nn.Module, inputs: Any, *, call: Call | None = None) -> dict[str, tuple[int, ...]]:
    """The shape that each layer gives for the first two rows of the inputs (the first batch, if they come in batches).

    Layers that are not called, or give no tensor, are left out.

    Examples
    --------
    >>> shapes_of(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), torch.zeros(10, 3))
    {'0': (2, 4), '1': (2, 4)}
    """
    require(
        not isinstance(inputs, Iterator),
        "an iterator gives its first batch only once, and record would miss it: give that batch, or a list of batches.",
    )
    shapes: dict[str, tuple[int, ...]] = {}

    def noting(name: str) -> Callable[[Any], None]:
        def note(given: Any) -> None:
            tensor = first_tensor(given)
            if tensor is not None:
                shapes[name] = tuple(tensor.shape)

        return note

    with listening(model, {name: noting(name) for name in layers_of(model)}), resting(model):
        batches = Batches.of(inputs, None if comes_in_batches(inputs) else 2, named=True)
        run(model, next(iter(batches)), call)
    return {name: shapes[name] for name in layers_of(model) if name in shapes}


def layer_named(model: nn.Module, name: str) -> nn.Module:
    """The layer of that name; if there is none, the names that are near."""
    found = dict(model.named_modules(remove_duplicate=False))
    there = [key for key in found if key]
    require(bool(there), "the model has no named layers: wrap it, torch.nn.Sequential(model), and its layer is 0.")
    if name not in there:
        near = difflib.get_close_matches(name, there, 5, 0.5) or there[:5]
        raise InputError(f"the model has no layer {name!r}: it has {', '.join(near)}, … (layers_of lists all).")
    return found[name]


@contextmanager
def listening(
    model: nn.Module, outputs: dict[str, Callable[[Any], None]], inputs: dict[str, Callable[[Any], None]] | None = None
) -> Iterator[None]:
    """While open, each function is called with what its layer gives (or, for `inputs`, with what it is given)."""
    require(
        not any(isinstance(layer_named(model, name), torch.jit.ScriptModule) for name in (*outputs, *(inputs or {}))),
        "a layer of TorchScript cannot be listened to: give the torch.nn.Module that it was made of.",
    )
    with ExitStack() as hooks:
        for name, hear in outputs.items():
            handle = layer_named(model, name).register_forward_hook(lambda _module, _given, out, h=hear: h(out))
            hooks.callback(handle.remove)
        for name, hear in (inputs or {}).items():
            before = layer_named(model, name).register_forward_pre_hook(
                lambda _module, args, named, h=hear: h(args or named), with_kwargs=True
            )
            hooks.callback(before.remove)
        yield


@contextmanager
def resting(model: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients; modes and torch's random state are put back as they were."""
    modes = [(module, module.training) for module in model.modules()]
    # A DataLoader draws a seed from the global generator whenever it is iterated.
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        try:
            model.eval()
            yield
        finally:
            for module, training in modes:
                module.training = training


def first_tensor(given: Any) -> Tensor | None:
    """The tensor itself, `last_hidden_state` of an output that has one, or the first tensor of a tuple or dict."""
    if isinstance(given, Tensor):
        return given
    hidden = getattr(given, "last_hidden_state", None)
    if isinstance(hidden, Tensor):
        return hidden
    values: Sequence[Any] = list(given.values()) if isinstance(given, dict) else given
    if not isinstance(values, (list, tuple)):
        return None
    return next((value for value in values if isinstance(value, Tensor)), None)
