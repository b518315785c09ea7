"""Descriptions to JSON and back: every description in unmix is a frozen dataclass of plain values."""

from __future__ import annotations

import dataclasses
import importlib
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
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        told = [f.name for f in dataclasses.fields(value) if f.init]
        return {"is": name} | {field: to_config(getattr(value, field)) for field in told}
    if isinstance(value, (list, tuple)):
        return [to_config(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(
        f"a {type(value).__name__} cannot be written to config.json: use frozen dataclasses of plain values."
    )


def from_config(config: Any) -> Any:
    """The inverse of `to_config`, for descriptions that unmix itself defines.

    Examples
    --------
    >>> import unmix as um
    >>> from_config(to_config(um.Box(3))) == um.Box(3)
    True
    """
    if isinstance(config, list):
        return tuple(from_config(v) for v in config)
    if not isinstance(config, dict):
        return config
    name = str(config.get("is", ""))
    module, _, kind = name.rpartition(".")
    found: Any = None
    if module.split(".")[0] == "unmix":  # a config file must not be able to import anything else
        try:
            found = getattr(importlib.import_module(module), kind, None)
        except ImportError:
            found = None
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise InputError(
            f"config.json names {name!r}, which unmix does not define (a class of your own?): "
            "call `fit` with the same arguments and folder instead, which reads the run back."
        )
    try:
        return found(**{k: from_config(v) for k, v in config.items() if k != "is"})
    except TypeError as error:
        raise InputError(f"config.json does not fit {name}: {error}.") from None
