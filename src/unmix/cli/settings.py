"""From flags and a config file to a process, a model and a recipe."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

from unmix import recipes
from unmix.cli import naming
from unmix.encoders import MLP
from unmix.encoders.outputs import Output
from unmix.errors import InputError, require
from unmix.laws import Law, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.objectives import InfoNCE, Objective, Regression
from unmix.processes import PairProcess
from unmix.similarities import Dot, Lp, Similarity
from unmix.training import Recipe

USUAL_LAWS = {  # of each space: marginal and conditional
    "sphere": ("uniform", "vmf:10"),
    "box": ("uniform", "laplace:0.05"),
    "euclidean": ("normal:1", "normal:1"),
}
USUAL_OUTPUT = {"sphere": "sphere", "box": "box", "euclidean": "free"}


@dataclass(frozen=True)
class Settings:
    """Everything that `unmix fit` can be told; None takes what matches the process, or the recipe's value."""

    space: str = "sphere"
    dimension: int = 10
    marginal: str | None = None
    conditional: str | None = None
    mixing: str = "mlp:3"
    objective: str = "infonce"
    similarity: str | None = None
    temperature: float | None = None
    learn_temperature: bool = False
    two_sided: bool = False
    group_size: int | None = None
    output: str | None = None
    outputs: int | None = None
    widths: str | None = None
    slope: float | None = None
    whiten: bool | None = None
    recipe: str = "fast"
    steps: int | None = None
    batch: int | None = None
    rate: float | None = None
    seed: int = 0

    def process(self) -> PairProcess:
        space = naming.space_named(self.space, self.dimension)
        marginal, conditional = USUAL_LAWS[self.space]
        return PairProcess(
            space,
            naming.law_named(self.marginal or marginal),
            naming.law_named(self.conditional or conditional),
            naming.mixing_named(self.mixing),
            self.seed,
        )

    def model(self, process: PairProcess) -> Model:
        as_published = self._recipe_name() == "paper"
        encoder = MLP.paper(process.dimension) if as_published else MLP()
        if self.widths is not None:
            encoder = replace(encoder, widths=_widths(self.widths))
        if self.slope is not None:
            encoder = replace(encoder, slope=self.slope)
        return Model(
            encoder,
            self._objective(process.conditional),
            self._output(),
            self.outputs,
            (not as_published) if self.whiten is None else self.whiten,
        )

    def training_recipe(self) -> Recipe:
        supervised = self.objective == "regression"
        recipe = recipes.paper(supervised) if self._recipe_name() == "paper" else recipes.fast()
        told = {name: getattr(self, name) for name in ("steps", "batch", "rate")}
        return replace(recipe, **{name: value for name, value in told.items() if value is not None})

    def _recipe_name(self) -> str:
        require(self.recipe in ("fast", "paper"), f"there is no recipe {self.recipe!r}: choose from fast, paper.")
        return self.recipe

    def _objective(self, conditional: Law) -> Objective:
        names = ("infonce", "regression")
        require(self.objective in names, f"there is no objective {self.objective!r}: choose from {', '.join(names)}.")
        if self.objective == "regression":
            return Regression()
        similarity = naming.similarity_named(self.similarity) if self.similarity else _matching(conditional, self.space)
        temperature = self.temperature
        if temperature is None:
            temperature = _matching_temperature(conditional, similarity)
        return InfoNCE(similarity, temperature, self.learn_temperature, self.two_sided, self.group_size)

    def _output(self) -> Output:
        usual = "free" if self.objective == "regression" else USUAL_OUTPUT[self.space]
        return naming.output_named(self.output or usual)


def _matching(conditional: Law, space: str) -> Similarity:
    """The similarity whose model law is the conditional's own, where there is one."""
    return Lp(conditional.power) if isinstance(conditional, AdditiveLaw) and space != "sphere" else Dot()


def _matching_temperature(conditional: Law, similarity: Similarity) -> float:
    """vMF(κ) with unit-norm outputs asks for τ = 1/κ; elsewhere the scale of the output adapts to τ = 1."""
    if isinstance(conditional, VonMisesFisher) and isinstance(similarity, Dot) and conditional.concentration > 0:
        return 1 / conditional.concentration
    return 1.0


def _widths(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(w) for w in text.split(","))
    except ValueError:
        raise InputError(f"{text!r} are no hidden widths: write whole numbers with commas, as in 64,64,64.") from None


def settle(flags: dict[str, Any], config: Path | None) -> Settings:
    """Flags win over the config file, which wins over the defaults."""
    told = _read(config) if config else {}
    return Settings(**(told | {k: v for k, v in flags.items() if v is not None}))


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text()
        told = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read the config file {path}: {error.strerror}; check its path.") from None
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the config file {path} is not valid {path.suffix[1:] or 'TOML'}: {error}.") from None
    require(isinstance(told, dict), f"the config file {path} must hold names and values.")
    told = {k.replace("-", "_"): v for k, v in told.items()}
    hints = get_type_hints(Settings)
    for name, value in told.items():
        require(name in hints, f"{path} sets {name!r}, which is unknown: choose from {', '.join(sorted(hints))}.")
        if hints[name] in (float, float | None) and isinstance(value, int) and not isinstance(value, bool):
            told[name] = value = float(value)
        fits = isinstance(value, hints[name]) and not (
            isinstance(value, bool) and hints[name] not in (bool, bool | None)
        )
        require(fits, f"{path} sets {name} to {value!r}, which is not of the right kind: see `unmix fit --help`.")
    return told
