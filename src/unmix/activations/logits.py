"""Whether f·g + b are the model's own logits: tried on the first rows, with a bias that the model adds later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.activations.batches import Batch, Call, run
from unmix.activations.head import Head, array_of
from unmix.activations.layers import first_tensor, listening
from unmix.activations.reasons import reason
from unmix.activations.rows import Rows
from unmix.errors import InputError, require

NUMBERS = 2**24  # the most logits that are compared, unless the first input alone has more
PRODUCT = {"highest": 2.0**-23, "high": 2.0**-10, "medium": 2.0**-7}  # eps of a product of float32, as torch was told
Logits = Float[Tensor, "rows labels"]


@dataclass(eq=False)
class Trial:
    """A run of the model in which its head's layer is listened to.

    Parameters
    ----------
    rows : how outputs become rows; only these are compared.
    call : as for `record`; the logits are what it returns, or are in it.
    """

    model: nn.Module
    head: Head
    rows: Rows
    call: Call | None
    batch: Batch
    _heard: dict[str, Tensor] = field(default_factory=dict, init=False)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While open, what the layer is given and what it gives is kept."""
        layer = self.head.name
        with listening(self.model, {layer: self._hearing("ours")}, {layer: self._hearing("f")}):
            yield

    def own(self, output: Any) -> Head:
        """The head, with every bias that the model adds, if f·g + b are the logits of this output."""
        require(len(self._heard) == 2, f"layer {self.head.name} is given no table: take another layer.")
        f, ours = self._rows("f"), self._rows("ours")
        require_weights(self.head, f, ours)
        theirs = self._logits(output)
        if same(ours, theirs):
            return self.head
        for _, numbers in (*self.model.named_parameters(), *self.model.named_buffers()):
            fits = numbers.is_floating_point() and numbers.numel() == ours.shape[1]
            if fits and same(ours + numbers.flatten().to(ours.device), theirs):
                outer = array_of(numbers).ravel()
                return replace(self.head, bias=outer if self.head.bias is None else self.head.bias + outer)
        why = reason(ours, theirs, self._others(theirs.shape[1]), getattr(self.model, "config", None))
        raise InputError(f"f·g + bias of layer {self.head.name} are not the model's logits: {why}.")

    def _hearing(self, what: str) -> Callable[[Any], None]:
        def hear(given: Any) -> None:
            tensor = first_tensor(given)
            if tensor is not None and tensor.ndim > 1:
                each = len(self.head.g) * max(1, tensor[0].numel() // tensor.shape[-1])
                self._heard[what] = tensor[: max(1, NUMBERS // each)].clone()  # the model may go on in place

        return hear

    def _rows(self, what: str | Tensor) -> Logits:
        """Of as many inputs as were heard."""
        some = len(self._heard["f"])
        output = self._heard[what] if isinstance(what, str) else what
        mask = None if self.batch.mask is None else self.batch.mask[:some].to(output.device)
        return self.rows.take(output[:some], mask)

    def _logits(self, output: Any) -> Logits:
        logits, layer = logits_in(output, len(self.head.g)), self.head.name
        pooled = logits.ndim == 2 < self._heard["f"].ndim
        try:
            theirs = self._rows(logits)
        except InputError:
            theirs = logits[:0]
        rows = len(self._rows("f"))
        require(
            theirs.ndim == 2 and len(theirs) == rows,
            f"the model's logits have the shape {'×'.join(map(str, logits.shape))} where layer {layer} is given {rows} "
            f"rows: {'take LastToken()' if pooled else 'name the layer of its head'}, or let call= return one row of "
            "logits for each.",
        )
        return theirs

    def _others(self, labels: int) -> dict[str, Logits]:
        """What the model's other linear layers of so many outputs give."""
        heard: dict[str, Tensor] = {}

        def hearing(name: str) -> Callable[[Any], None]:
            return lambda given: heard.update({name: given.clone()})

        layers = {name: module for name, module in self.model.named_modules() if isinstance(module, nn.Linear)}
        alike = [name for name, module in layers.items() if name != self.head.name and module.out_features == labels]
        with listening(self.model, {name: hearing(name) for name in alike}):
            run(self.model, self.batch, self.call)
        found = {}
        for name, output in heard.items():
            try:
                found[name] = self._rows(output)
            except InputError:  # it has no such rows, so it cannot be the head
                continue
        return found


def logits_in(output: Any, labels: int) -> Tensor:
    """The logits in what a model gives: the tensor itself, the first of a tuple, or what is called so.

    Examples
    --------
    >>> logits_in({"loss": 0.5, "logits": torch.zeros(2, 3)}, 3).shape
    torch.Size([2, 3])
    """
    named = dict(output) if isinstance(output, Mapping) else {}
    if hasattr(output, "logits"):
        named["logits"] = output.logits
    tensors = {str(name): given for name, given in named.items() if isinstance(given, Tensor)}
    called = {name: given for name, given in tensors.items() if "logits" in name and given.ndim > 1}
    fitting = [given for given in called.values() if given.shape[-1] == labels]
    found = called.get("logits", fitting[0] if fitting else None)
    if found is None and not named:
        found = first_tensor(output)
    gives = ", ".join(tensors) or f"a {type(output).__name__}"
    if found is None or found.ndim < 2 or not found.is_floating_point():
        raise InputError(
            f"the model gives no logits of {labels} labels, which f·g + bias should be ({gives}): load it with its "
            "head, let call= return the logits, or record layers instead of f."
        )
    return found


def require_weights(head: Head, f: Float[Tensor, "rows width"], gives: Logits) -> None:
    """Refuse a layer that gives something else than f·g + b, as one does that is quantised or has an adapter.

    A sum of M products that is rounded at every step is off by a random walk of M steps, each at most eps/2 times what
    was summed so far, which is at most ‖f‖‖g‖ + |b|. Numbers of 16 bits are summed as float32 and rounded once.
    """
    kind, (labels, width) = torch.finfo(gives.dtype), head.g.shape
    step = kind.eps if gives.dtype == torch.float64 else PRODUCT[torch.get_float32_matmul_precision()]
    f, bias = f.cpu().double(), torch.zeros(labels) if head.bias is None else torch.from_numpy(head.bias)
    some = max(1, NUMBERS // max(width, len(f)))
    for a in range(0, labels, some):
        g, b = torch.from_numpy(head.g[a : a + some]).double(), bias[a : a + some].double()
        ours, theirs = f @ g.T + b, gives[:, a : a + some].cpu().double()
        largest = f.norm(dim=1).max() * g.norm(dim=1).max() + b.abs().max()
        rounding = 4 * sqrt(width + 1) * step * largest + 2 * kind.eps * ours.abs().max()
        require(
            bool(((ours - theirs).abs() <= rounding).all()),
            f"layer {head.name} gives other numbers than f·g + bias of its weights (it is quantised, has an adapter or "
            "a hook): load the model in full precision, with adapters merged.",
        )


def same(ours: Logits, theirs: Float[Tensor, "_ _"]) -> bool:
    """Whether these are the same logits, each rounded once, or their logarithms of probabilities or probabilities.

    Examples
    --------
    >>> logits = torch.tensor([[1.0, 2.0, 3.0]])
    >>> same(logits, logits.log_softmax(1)), same(logits, logits.softmax(1)), same(logits, 9 * torch.tanh(logits / 9))
    (True, True, False)
    """
    if ours.shape != theirs.shape or not bool(theirs.isfinite().all()):  # an infinite one would hide any difference
        return False
    eps = max(torch.finfo(t.dtype).eps for t in (ours, theirs))
    ours, theirs = ours.double(), theirs.double().to(ours.device)
    if bool(((ours - theirs).abs() <= eps * theirs.abs()).all()):
        return True
    if bool((theirs > 0).all()):
        theirs = theirs.log()
    rounding = 8 * eps * (1 + theirs.abs().max())  # of an exponential, a sum, a logarithm and a difference
    if ours.shape[1] < 2 or not bool((theirs.logsumexp(1).abs() <= rounding).all()):
        return False
    return bool(((ours.log_softmax(1) - theirs).abs() <= rounding).all())
