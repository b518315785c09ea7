"""A theorem is a list of assumptions that can be checked, and the class it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unmix.indeterminacy import Indeterminacy
from unmix.model import Model
from unmix.processes import PairProcess


@dataclass(frozen=True)
class Assumption:
    """A statement about (process, model), and the predicate that checks it."""

    statement: str
    holds: Callable[[PairProcess, Model], bool]


@dataclass(frozen=True)
class Theorem:
    """If every assumption holds, then f∘g is in the promised class, given enough data and a rich encoder."""

    name: str
    reference: str
    assumptions: tuple[Assumption, ...]
    promise: Callable[[PairProcess, Model], Indeterminacy]

    def violated(self, process: PairProcess, model: Model) -> tuple[Assumption, ...]:
        """The assumptions that fail."""
        return tuple(a for a in self.assumptions if not a.holds(process, model))
