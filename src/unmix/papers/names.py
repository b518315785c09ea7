"""The names of the exhibits: the folders and files beside this one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from unmix.errors import InputError
from unmix.papers.exhibit import Exhibit

HERE = Path(__file__).parent


def catalogue() -> dict[str, Exhibit]:
    """Every table and figure there is: each file papers/<paper>/<exhibit>.py whose name says which it is.

    Examples
    --------
    >>> "zimmermann2021/table1" in catalogue()
    True
    """
    files = sorted(path for kind in ("table", "figure") for path in HERE.glob(f"*/{kind}*.py"))
    modules = (import_module(f"unmix.papers.{path.parent.name}.{path.stem}") for path in files)
    return {module.EXHIBIT.name: module.EXHIBIT for module in modules}


def exhibit_named(name: str) -> Exhibit:
    """The exhibit of a name such as zimmermann2021/table1."""
    there = catalogue()
    if name not in there:
        raise InputError(f"there is no {name!r} to reproduce: choose from {', '.join(there)}.")
    return there[name]
