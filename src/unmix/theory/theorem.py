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
class HeadPromise:
    """What a theorem says of a linear head: its rows w as a function of the cluster vectors v, and both scales.

    Attributes
    ----------
    up_to : the class that v → w lies in.
    scale : what the promised map z → f(x) multiplies lengths by, where that is determined.
    row_scale : what the promised map v → w multiplies lengths by, where that is determined.
    """

    up_to: Indeterminacy
    scale: float | None = None
    row_scale: float | None = None


@dataclass(frozen=True)
class Theorem:
    """If every assumption holds of its subject, then the promised class follows, given enough data.

    The subject is a process and a model (f∘g is in the class) or two models (one is the other up to the class).

    Attributes
    ----------
    head : what is promised of the model's head, as a function of process, model and β; None where nothing is said.
    """

    name: str
    reference: str
    assumptions: tuple[Assumption, ...]
    promise: Callable[..., Indeterminacy]
    head: Callable[..., HeadPromise] | None = None

    def violated(self, *subject: Any) -> tuple[Assumption, ...]:
        """The assumptions that fail."""
        return tuple(a for a in self.assumptions if not a.holds(*subject))
