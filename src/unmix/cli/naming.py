"""The names that the command line and config files use, and the objects they stand for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from unmix import mixings
from unmix.encoders import outputs
from unmix.errors import InputError
from unmix.laws import GeneralisedNormal, Laplace, Law, Normal, Truncated, Uniform, VonMisesFisher
from unmix.mixings import Mixing
from unmix.similarities import Dot, Lp, LpNorm, Similarity
from unmix.spaces import Box, Euclidean, Space, Sphere

Maker = tuple[Callable[..., Any], int, str]  # what makes it, how many numbers it takes at most, an example

LAWS: dict[str, Maker] = {
    "uniform": (Uniform, 0, "uniform"),
    "vmf": (VonMisesFisher, 1, "vmf:10"),
    "normal": (Normal, 1, "normal:0.05"),
    "laplace": (Laplace, 1, "laplace:0.05"),
    "gennorm": (GeneralisedNormal, 2, "gennorm:3:0.05"),
    "cut-laplace": (lambda scale, support: Truncated(Laplace(scale), support), 2, "cut-laplace:1:0.5"),
}
MIXINGS: dict[str, Maker] = {
    "mlp": (lambda layers=3: mixings.MLP(_whole(layers)), 1, "mlp:3"),
    "smooth": (lambda layers=3: mixings.Smooth(_whole(layers)), 1, "smooth:3"),
    "linear": (mixings.Linear, 0, "linear"),
    "none": (mixings.Identity, 0, "none"),
}
SIMILARITIES: dict[str, Maker] = {
    "dot": (Dot, 0, "dot"),
    "lp": (Lp, 1, "lp:1"),
    "norm": (LpNorm, 1, "norm:2"),
}
OUTPUTS: dict[str, Maker] = {
    "sphere": (outputs.Sphere, 1, "sphere"),
    "learned-sphere": (lambda radius=1.0: outputs.Sphere(radius, learnable=True), 1, "learned-sphere"),
    "box": (outputs.Box, 1, "box"),
    "fixed-box": (lambda extent: outputs.Box(extent, learnable=False), 1, "fixed-box:20"),
    "free": (outputs.Free, 0, "free"),
}
SPACES: dict[str, Maker] = {
    "sphere": (Sphere, 1, "sphere"),
    "box": (Box, 2, "box"),
    "euclidean": (Euclidean, 0, "euclidean"),
}


def space_named(text: str, dimension: int) -> Space:
    """`sphere:2` has radius 2; `box:-1:1` is [−1, 1]^d."""
    bound: dict[str, Maker] = {name: (partial(maker, dimension), most, e) for name, (maker, most, e) in SPACES.items()}
    return _make(text, bound, "space")


def law_named(text: str) -> Law:
    return _make(text, LAWS, "law")


def mixing_named(text: str) -> Mixing:
    return _make(text, MIXINGS, "mixing")


def similarity_named(text: str) -> Similarity:
    return _make(text, SIMILARITIES, "similarity")


def output_named(text: str) -> outputs.Output:
    return _make(text, OUTPUTS, "output")


def choices(makers: dict[str, Maker]) -> str:
    """An example of each, for help texts and errors."""
    return ", ".join(example for _, _, example in makers.values())


def _whole(number: float) -> int:
    if number != int(number):
        raise ValueError
    return int(number)


def _make(text: str, makers: dict[str, Maker], kind: str) -> Any:
    """`name:number:number` to the object."""
    name, *numbers = text.lower().split(":")
    if name not in makers:
        raise InputError(f"there is no {kind} {name!r}: write for example {choices(makers)}.")
    maker, most, example = makers[name]
    try:
        values = [float(n) for n in numbers]
        if len(values) > most:
            raise TypeError
        return maker(*values)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{text!r} is not a {kind}: write for example {example}.") from None
