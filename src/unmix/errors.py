"""The errors that unmix raises: one sentence, with the remedy."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """Something handed to unmix cannot be used; the message says what to hand over instead."""


class RunFolderError(RuntimeError):
    """A run folder cannot be used as asked; nothing in it was changed."""


class TrainingDiverged(RuntimeError):
    """The loss stopped being a number.

    Attributes
    ----------
    step : the step at which it happened.
    cause : what it probably comes from, and what to try.
    checkpoint : the last good checkpoint's path, or None if there is none.
    """

    def __init__(self, step: int, cause: str, checkpoint: str | None) -> None:
        super().__init__(step, cause, checkpoint)  # as given, so that it can be handed from process to process
        self.step = step
        self.cause = cause
        self.checkpoint = checkpoint

    def __str__(self) -> str:
        kept = f"the last good checkpoint is {self.checkpoint}" if self.checkpoint else "no checkpoint was kept"
        return f"the loss became NaN or infinite at step {self.step}; likely cause: {self.cause}; {kept}."


def brief(value: object, most: int = 80) -> str:
    """What a sentence shows of a value: its `repr`, and of a long one the start.

    Examples
    --------
    >>> brief("a" * 100, most=12)
    "'aaaaaaaaaa…"
    """
    said = repr(value)
    return said if len(said) <= most else said[: most - 1] + "…"


def require_kind(value: object, kind: Any, name: str, example: str) -> None:
    """Refuse an argument of another kind, a class instead of its instance among them."""
    given = f"the class {value.__name__}" if isinstance(value, type) else brief(value)
    require(isinstance(value, kind) and not isinstance(value, type), f"{name} must be like {example}, not {given}.")


def require(condition: bool, message: str) -> None:
    """Raise `InputError(message)` unless the condition holds."""
    if not condition:
        raise InputError(message)
