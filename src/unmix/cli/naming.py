"""The names that the command line and config files use, and the objects they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unmix import mixings
from unmix.encoders import outputs
from unmix.errors import InputError
from unmix.laws import GeneralisedNormal, Laplace, Law, Normal, Uniform, VonMisesFisher
from unmix.mixings import Mixing
from unmix.similarities import Dot, Lp, LpNorm, Similarity
from unmix.spaces import Box, Euclidean, Space, Sphere

Maker = tuple[Callable[..., Any], int, str]  # what makes it, how many numbers it takes at most, how it is written

LAWS: dict[str, Maker] = {
    "uniform": (Uniform, 0, "uniform"),
    "vmf": (VonMisesFisher, 1, "vmf:KAPPA"),
    "normal": (Normal, 1, "normal:SCALE"),
    "laplace": (Laplace, 1, "laplace:SCALE"),
    "gennorm": (GeneralisedNormal, 2, "gennorm:SHAPE:SCALE"),
}
MIXINGS: dict[str, Maker] = {
    "mlp": (lambda layers=3: mixings.MLP(_whole(layers)), 1, "mlp:LAYERS"),
    "smooth": (lambda layers=3: mixings.Smooth(_whole(layers)), 1, "smooth:LAYERS"),
    "linear": (mixings.Linear, 0, "linear"),
}
SIMILARITIES: dict[str, Maker] = {
    "dot": (Dot, 0, "dot"),
    "lp": (Lp, 1, "lp:P (the power Σ|a−b|^p)"),
    "norm": (LpNorm, 1, "norm:P (the distance itself)"),
}
OUTPUTS: dict[str, Maker] = {
    "sphere": (outputs.Sphere, 1, "sphere:RADIUS"),
    "learned-sphere": (lambda radius=1.0: outputs.Sphere(radius, learnable=True), 1, "learned-sphere"),
    "box": (outputs.Box, 1, "box (its extent is learned)"),
    "free": (outputs.Free, 0, "free"),
}
SPACES: dict[str, type[Sphere] | type[Box] | type[Euclidean]] = {
    "sphere": Sphere, "box": Box, "euclidean": Euclidean,
}  # fmt: skip


def space_named(name: str, dimension: int) -> Space:
    if name not in SPACES:
        raise InputError(f"there is no space {name!r}: choose from {', '.join(SPACES)}.")
    return SPACES[name](dimension)


def law_named(text: str) -> Law:
    return _make(text, LAWS, "law")


def mixing_named(text: str) -> Mixing:
    return _make(text, MIXINGS, "mixing")


def similarity_named(text: str) -> Similarity:
    return _make(text, SIMILARITIES, "similarity")


def output_named(text: str) -> outputs.Output:
    return _make(text, OUTPUTS, "output")


def choices(makers: dict[str, Maker]) -> str:
    """How the names are written, for help texts and errors."""
    return ", ".join(written for _, _, written in makers.values())


def _whole(number: float) -> int:
    if number != int(number):
        raise ValueError
    return int(number)


def _make(text: str, makers: dict[str, Maker], kind: str) -> Any:
    """`name:number:number` to the object."""
    name, *numbers = text.split(":")
    if name not in makers:
        raise InputError(f"there is no {kind} {name!r}: choose from {choices(makers)}.")
    maker, most, written = makers[name]
    try:
        values = [float(n) for n in numbers]
        if len(values) > most:
            raise TypeError
        return maker(*values)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{text!r} is not a {kind}: write {written}, with numbers for capitals.") from None
