"""What a config file says of `unmix fit`."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

from unmix.errors import InputError, brief, require

FLOATS = 2**1023  # a larger whole number is no float


def read_config(path: Path, hints: dict[str, Any]) -> dict[str, Any]:
    """Names and values from TOML, or from JSON in a .json file, each of the kind that `hints` says."""
    try:
        text = path.read_text(encoding="utf-8")
        told = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read the config file {path}: {error.strerror}; check its path.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"the config file {path} is not valid: {error}; write TOML, or JSON in a .json file."
        ) from None
    require(isinstance(told, dict), f"the config file {path} must hold names and values.")
    told = {k.replace("-", "_"): v for k, v in told.items()}
    for name, value in told.items():
        known = ", ".join(sorted(hints))
        require(name in hints, f"{path} sets {brief(name)}, which is unknown or a flag only: choose from {known}.")
        if name == "widths" and isinstance(value, list):
            told[name] = value = ",".join(map(str, value))
        if hints[name] in (float, float | None) and type(value) is int:
            told[name] = value = float(value) if abs(value) < FLOATS else math.inf
        fits = isinstance(value, hints[name]) and (type(value) is not bool or hints[name] in (bool, bool | None))
        kind = str(getattr(hints[name], "__name__", hints[name])).replace(" | None", "")
        require(fits, f"{path} sets {name} to {brief(value)}, which should be of the kind {kind}.")
    return told
