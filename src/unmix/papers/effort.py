"""How hard to try: what is trained in place of a published model, and by which recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from unmix.encoders import MLP, outputs
from unmix.errors import require
from unmix.model import Model
from unmix.processes import Process
from unmix.training import Recipe, recipes

Effort = Callable[[Process, Model], tuple[Model, Recipe]]


def fast(process: Process, model: Model) -> tuple[Model, Recipe]:
    """The small whitened encoder, a learned box that starts as ours do, and the recipe that suits the two."""
    small = replace(model, encoder=MLP(), whiten=True)
    if isinstance(model.output, outputs.Box) and model.output.learnable:
        small = replace(small, output=outputs.Box())
    return small, recipes.suited(process, small)


def paper(process: Process, model: Model) -> tuple[Model, Recipe]:
    """All as published: minutes to weeks a run on a CPU."""
    return model, recipes.paper(process, model)


NAMED: dict[str, Effort] = {"fast": fast, "paper": paper}


def effort_named(effort: str | Effort) -> tuple[Effort, str]:
    """A function for a name, and a name for a function.

    Examples
    --------
    >>> effort_named("paper")[0] is paper
    True
    """
    if not isinstance(effort, str):
        require(callable(effort), f"give a function of process and model as recipe, or its name, not {effort!r}.")
        name = getattr(effort, "__name__", "own")
        return effort, "own" if name in NAMED and effort is not NAMED[name] else name
    require(effort in NAMED, f"there is no recipe {effort!r}: choose from {', '.join(NAMED)}.")
    return NAMED[effort], effort
