"""From flags and a config file to a process, a model and a recipe."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

from unmix import recipes
from unmix.cli import naming
from unmix.encoders import MLP, outputs
from unmix.encoders.outputs import Output
from unmix.errors import InputError, require
from unmix.laws import Law, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.objectives import InfoNCE, Objective, Regression
from unmix.processes import PairProcess
from unmix.similarities import Dot, Lp, Similarity
from unmix.spaces import Box, Euclidean, Sphere
from unmix.training import Recipe
from unmix.training.batches import Local

USUAL_LAWS: dict[type, tuple[str, str]] = {  # of each space: marginal and conditional
    Sphere: ("uniform", "vmf:10"),
    Box: ("uniform", "laplace:0.05"),
    Euclidean: ("normal:1", "normal:1"),
}
USUAL_OUTPUT: dict[type, str] = {Sphere: "sphere", Box: "box", Euclidean: "free"}


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
    output_dimension: int | None = None
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
        marginal, conditional = USUAL_LAWS[type(space)]
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
            self._objective(process, output := self._output(process)),
            output,
            self.output_dimension,
            (not as_published) if self.whiten is None else self.whiten,
        )

    def training_recipe(self, process: PairProcess, model: Model) -> Recipe:
        as_published = self._recipe_name() == "paper"
        recipe = recipes.paper(process, model) if as_published else recipes.suited(process, model)
        told: dict[str, Any] = {name: getattr(self, name) for name in ("steps", "batch", "rate")}
        if self.batch is not None and isinstance(recipe.batches, Local) and self.batch % recipe.batches.rows:
            told["batches"] = replace(recipe.batches, rows=self.batch, depth=max(0, 18 - self.batch.bit_length()))
        return replace(recipe, **{name: value for name, value in told.items() if value is not None})

    def _recipe_name(self) -> str:
        name = self.recipe.lower()
        require(name in ("fast", "paper"), f"there is no recipe {self.recipe!r}: choose from fast, paper.")
        return name

    def _objective(self, process: PairProcess, output: Output) -> Objective:
        names = ("infonce", "regression")
        name = self.objective.lower()
        require(name in names, f"there is no objective {self.objective!r}: choose from {', '.join(names)}.")
        if name == "regression":
            for unused in ("similarity", "temperature", "learn_temperature", "two_sided", "group_size"):
                require(not getattr(self, unused), f"regression has no {unused.replace('_', ' ')}: leave it out.")
            return Regression()
        similarity = naming.similarity_named(self.similarity) if self.similarity else _matching(process)
        temperature = self.temperature
        if temperature is None:
            temperature = _matching_temperature(process.conditional, similarity, output)
        return InfoNCE(similarity, temperature, self.learn_temperature, self.two_sided, self.group_size)

    def _output(self, process: PairProcess) -> Output:
        usual = "free" if self.objective.lower() == "regression" else USUAL_OUTPUT[type(process.space)]
        return naming.output_named(self.output or usual)


def _matching(process: PairProcess) -> Similarity:
    """The similarity whose model law is the conditional's own, where there is one."""
    law = process.conditional
    return Lp(law.power) if isinstance(law, AdditiveLaw) and not isinstance(process.space, Sphere) else Dot()


def _matching_temperature(conditional: Law, similarity: Similarity, output: Output) -> float:
    """vMF(κ) with outputs of norm r asks for τ = r²/κ; elsewhere the scale of the output adapts to τ = 1."""
    vmf = isinstance(conditional, VonMisesFisher) and conditional.concentration > 0
    if vmf and isinstance(similarity, Dot) and isinstance(output, outputs.Sphere):
        return output.radius**2 / conditional.concentration  # type: ignore[attr-defined]
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
    hints = get_type_hints(Settings)
    for name, value in told.items():
        known = ", ".join(sorted(hints))
        require(name in hints, f"{path} sets {name!r}, which is unknown or given by flag only: choose from {known}.")
        if name == "widths" and isinstance(value, list):
            told[name] = value = ",".join(map(str, value))
        if hints[name] in (float, float | None) and type(value) is int:
            told[name] = value = float(value)
        fits = isinstance(value, hints[name]) and (type(value) is not bool or hints[name] in (bool, bool | None))
        kind = str(getattr(hints[name], "__name__", hints[name])).replace(" | None", "")
        require(fits, f"{path} sets {name} to {value!r}, which should be of the kind {kind}.")
    return told
