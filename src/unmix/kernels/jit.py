"""Loops as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def jit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiled at the first call, without the interpreter's lock; kept on disk where a writable place is found."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # a read-only system, say
            return njit(nogil=True, **options)(function)

    return compiled
