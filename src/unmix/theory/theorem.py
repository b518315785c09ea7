"""A theorem is a list of assumptions that can be checked, and the class it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from unmix.indeterminacy import Indeterminacy


class Mark(Enum):
    """What came of checking an assumption."""

    HOLDS = "✓"
    FAILS = "✗"
    UNKNOWN = "?"
    ABSENT = "–"  # it is about something that is not there, such as the exponent of a law that has none


@dataclass(frozen=True)
class Answer:
    """A mark, and what the check saw where there is more to say."""

    mark: Mark
    seen: str = ""


def _nothing_more(*subject: Any) -> str:
    return ""


@dataclass(frozen=True)
class Assumption:
    """A statement about the theorem's subject, and the predicate that checks it.

    Attributes
    ----------
    holds : a predicate of the subject; it gives None where it cannot be known.
    rests_on : the assumptions without which this one is about nothing. It is asked only where they hold, so
        that one cause is named once.
    seen : what the check saw, in words; empty where the mark says it all.
    defining : whether it says which objective, space or case the theorem is about. A theorem of which such an
        assumption fails is about something else.

    Examples
    --------
    >>> import math
    >>> positive = Assumption("x is positive", lambda x: x > 0)
    >>> small = Assumption("log x is below 1", lambda x: math.log(x) < 1, rests_on=(positive,))
    >>> [small.check(x).mark.value for x in (2.0, 5.0, -1.0)]
    ['✓', '✗', '–']
    """

    statement: str
    holds: Callable[..., bool | None]
    rests_on: tuple[Assumption, ...] = ()
    seen: Callable[..., str] = _nothing_more
    defining: bool = False

    def check(self, *subject: Any) -> Answer:
        """The mark of this assumption for a subject, and what was seen."""
        premises = {premise.check(*subject).mark for premise in self.rests_on}
        if premises & {Mark.FAILS, Mark.ABSENT}:
            return Answer(Mark.ABSENT)
        if Mark.UNKNOWN in premises:
            return Answer(Mark.UNKNOWN)
        holds = self.holds(*subject)
        mark = Mark.UNKNOWN if holds is None else Mark.HOLDS if holds else Mark.FAILS
        return Answer(mark, self.seen(*subject))


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

    def check(self, *subject: Any) -> dict[Assumption, Answer]:
        """Each assumption with its mark."""
        return {assumption: assumption.check(*subject) for assumption in self.assumptions}

    def violated(self, *subject: Any) -> tuple[Assumption, ...]:
        """The assumptions that fail."""
        return tuple(a for a, answer in self.check(*subject).items() if answer.mark is Mark.FAILS)
