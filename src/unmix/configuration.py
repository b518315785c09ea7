"""Descriptions to JSON and back: every description in unmix is a frozen dataclass of plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from unmix.errors import InputError


def to_config(value: Any) -> Any:
    """A JSON value; a dataclass becomes its fields and, under "is", its dotted name.

    Examples
    --------
    >>> import unmix as um
    >>> to_config(um.Normal(0.05))
    {'is': 'unmix.laws.normal.Normal', 'scale': 0.05}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        told = [f.name for f in dataclasses.fields(value) if f.init]
        return {"is": _name(type(value))} | {field: to_config(getattr(value, field)) for field in told}
    if isinstance(value, (list, tuple)):
        return [to_config(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(
        f"a {type(value).__name__} cannot be written to config.json: use frozen dataclasses of plain values."
    )


def from_config(config: Any, known: Iterable[type]) -> Any:
    """The inverse of `to_config`, for descriptions of these classes.

    A name in a file is compared with theirs and nothing is imported by it, so that a file of somebody else's runs no
    code but theirs.

    Examples
    --------
    >>> import unmix as um
    >>> from_config(to_config(um.Box(3)), [um.Box]) == um.Box(3)
    True
    """
    try:
        return _read(config, {_name(kind): kind for kind in known})
    except RecursionError:
        raise InputError("config.json is nested too deeply to be one of unmix: choose another folder.") from None


def _read(config: Any, known: Mapping[str, type]) -> Any:
    if isinstance(config, list):
        return tuple(_read(v, known) for v in config)
    if not isinstance(config, dict):
        return config
    name = str(config.get("is", ""))
    if name not in known:
        raise InputError(
            f"config.json names {name[:80]!r}, which unmix does not define (a class of your own?): "
            "call `fit` with the same arguments and folder instead, which reads the run back."
        )
    parts = {k: _read(v, known) for k, v in config.items() if k != "is"}
    try:
        return known[name](**parts)
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise InputError(f"config.json does not fit {name}: {said}; choose another folder.") from None


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
