"""A theorem is a list of assumptions that can be checked, and the class it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unmix.indeterminacy import Indeterminacy


@dataclass(frozen=True)
class Assumption:
    """A statement about the theorem's subject, and the predicate that checks it."""

    statement: str
    holds: Callable[..., bool]


@dataclass(frozen=True)
class Theorem:
    """If every assumption holds of its subject, then the promised class follows, given enough data.

    The subject is a process and a model (f∘g is in the class) or two models (one is the other up to the class).
    """

    name: str
    reference: str
    assumptions: tuple[Assumption, ...]
    promise: Callable[..., Indeterminacy]

    def violated(self, *subject: Any) -> tuple[Assumption, ...]:
        """The assumptions that fail."""
        return tuple(a for a in self.assumptions if not a.holds(*subject))
