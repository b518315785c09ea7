"""What tells one model, one list of ids and one sequence of inputs from another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor, nn

BLOCK = 2**24


class Fingerprint:
    """A running hash of named tensors.

    Examples
    --------
    >>> a, b = Fingerprint(), Fingerprint()
    >>> a.add("x", torch.zeros(3)), b.add("x", torch.zeros(3))
    (None, None)
    >>> str(a) == str(b)
    True
    """

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=12)

    def add(self, name: str, tensor: Tensor) -> None:
        self._hash.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        for a in range(0, len(plain), BLOCK):
            self._hash.update(plain[a : a + BLOCK].numpy().data)

    def add_all(self, tensors: Iterable[Tensor]) -> None:
        for i, tensor in enumerate(tensors):
            self.add(str(i), tensor)

    def add_text(self, text: str) -> None:
        self._hash.update(f"{len(text)} {text}".encode())

    def __str__(self) -> str:
        return self._hash.hexdigest()


def of_model(model: nn.Module) -> str:
    """Of its layers, parameters and buffers."""
    found = Fingerprint()
    found.add_text(re.sub(r"0x[0-9a-f]+", "", repr(model)))  # where a function lies in memory changes with every run
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        found.add(name, tensor)
    return str(found)


def of_texts(texts: Iterable[Any]) -> str:
    """Of a list of texts."""
    found = Fingerprint()
    for text in texts:
        found.add_text(str(text))
    return str(found)
