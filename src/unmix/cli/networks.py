"""A network on the command line: a callable of the user's own, or a folder of a Hugging Face model."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from functools import reduce
from pathlib import Path
from typing import Any

from torch import nn

from unmix.activations import Pretrained, pretrained
from unmix.errors import InputError, require


def network_named(text: str) -> nn.Module | Pretrained:
    """The network that PACKAGE.MODULE:CALLABLE gives, or what is in a folder."""
    if Path(text).is_dir():
        return pretrained(text)
    module, mark, name = text.partition(":")
    plain = bool(mark and module and name) and not module.startswith(".")
    require(plain, f"{text} is no folder: give one, or MODULE:CALLABLE, such as nets:small.")
    found = _attribute(_module(module, text), name, text)
    if not isinstance(found, nn.Module) and callable(found):
        _require_no_arguments(found, f"{name} of {module}")
        try:
            found = found()
        except TypeError as error:
            raise InputError(f"{name} of {module} gives no model, it stops with: {error}.") from error
    require(isinstance(found, nn.Module), f"{text} gives a {type(found).__name__}, not a torch.nn.Module.")
    return found


def _require_no_arguments(function: Any, name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some of what is written in C has none
        return
    try:
        signature.bind()
    except TypeError as error:
        raise InputError(f"{name} must give a model without arguments: {error}.") from None


def _module(name: str, text: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # a script of the user's own, next to the data
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise InputError(f"there is no module {name} here, for {text}: run in its folder, or install it.") from None
        raise


def _attribute(module: Any, name: str, text: str) -> Any:
    try:
        return reduce(getattr, name.split("."), module)
    except AttributeError:
        raise InputError(f"{module.__name__} has no {name}, for {text}.") from None
