"""The protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class Callback(Protocol):
    """Anything that can be called with a step and numbers by name: a function will do.

    `um.fit` calls it whenever it logs, with the loss and the seconds so far; the estimators with the loss and the
    validation loss. A run that goes on after a stop tells again what it had told since its last checkpoint.

    Examples
    --------
    >>> def say(step, values):
    ...     print(step, sorted(values))
    >>> isinstance(say, Callback)
    True
    """

    def __call__(self, step: int, values: Mapping[str, float]) -> None: ...
