"""From flags and a config file to a process, a model and a recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

from unmix import recipes
from unmix.cli import naming
from unmix.cli.config import read_config
from unmix.encoders import MLP, outputs
from unmix.encoders.outputs import Output
from unmix.errors import InputError, require
from unmix.laws import Law, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy, InfoNCE, Objective, Regression
from unmix.processes import ClusterProcess, Clusters, PairProcess, Process
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
CLASSIFYING: dict[str, type[CrossEntropy]] = {"cross-entropy": CrossEntropy, "diet": DIET}
OF_CLUSTERS = ("clusters", "cluster_law", "instances", "label_noise")
OF_PAIRS = ("similarity", "two_sided", "group_size")
OF_HEADS = ("unit_rows", "label_smoothing")
OF_TEMPERATURE = ("temperature", "learn_temperature")


@dataclass(frozen=True)
class Settings:
    """Everything that `unmix fit` can be told; None takes what matches the process, or the recipe's value."""

    space: str = "sphere"
    dimension: int = 10
    marginal: str | None = None
    conditional: str | None = None
    mixing: str = "mlp:3"
    clusters: int | None = None
    cluster_law: str | None = None
    instances: int | None = None
    label_noise: float = 0.0
    objective: str = "infonce"
    similarity: str | None = None
    temperature: float | None = None
    learn_temperature: bool = False
    two_sided: bool = False
    group_size: int | None = None
    unit_rows: bool = False
    label_smoothing: float = 0.0
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

    def process(self) -> Process:
        space = naming.space_named(self.space, self.dimension)
        marginal, conditional = USUAL_LAWS[type(space)]
        around = naming.law_named(self.conditional or conditional)
        mixing = naming.mixing_named(self.mixing)
        if not self._clustered():
            self._require_none(OF_CLUSTERS, f"a process of pairs, which {self.objective} trains on,")
            return PairProcess(space, naming.law_named(self.marginal or marginal), around, mixing, self.seed)
        self._require_none(("marginal",), "a process of clusters")
        clusters = 100 if self.clusters is None else self.clusters
        usual = max(1000, clusters) if self._objective_name() == "diet" else None
        return ClusterProcess(
            space,
            Clusters(clusters, naming.law_named(self.cluster_law or "uniform")),
            around,
            mixing,
            usual if self.instances is None else self.instances,
            label_noise=self.label_noise,
            seed=self.seed,
        )

    def model(self, process: Process) -> Model:
        as_published = self._recipe_name() == "paper"
        classifies = self._objective_name() in CLASSIFYING
        encoder = MLP.paper(process.dimension, batch_norm=classifies) if as_published else MLP()
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

    def training_recipe(self, process: Process, model: Model) -> Recipe:
        as_published = self._recipe_name() == "paper"
        recipe = recipes.paper(process, model) if as_published else recipes.suited(process, model)
        told: dict[str, Any] = {name: getattr(self, name) for name in ("steps", "batch", "rate")}
        if self.batch is not None and isinstance(recipe.batches, Local) and self.batch % recipe.batches.rows:
            told["batches"] = replace(recipe.batches, rows=self.batch, depth=max(0, 18 - self.batch.bit_length()))
        if self.batch is not None and recipe.group_size and self.batch % recipe.group_size:
            recipe = replace(recipe, group_size=None)
        return replace(recipe, **{name: value for name, value in told.items() if value is not None})

    def _recipe_name(self) -> str:
        name = self.recipe.lower()
        require(name in ("fast", "paper"), f"there is no recipe {self.recipe!r}: choose from fast, paper.")
        return name

    def _objective_name(self) -> str:
        name = self.objective.lower()
        names = ("infonce", "cross-entropy", "diet", "regression")
        require(name in names, f"there is no objective {self.objective!r}: choose from {', '.join(names)}.")
        return name

    def _clustered(self) -> bool:
        """Classification is of clusters; regression is of whatever is described."""
        name = self._objective_name()
        return name in CLASSIFYING or (name == "regression" and any(getattr(self, option) for option in OF_CLUSTERS))

    def _objective(self, process: Process, output: Output) -> Objective:
        name = self._objective_name()
        if name == "regression":
            self._require_none((*OF_TEMPERATURE, *OF_PAIRS, *OF_HEADS), "regression")
            return Regression()
        if name in CLASSIFYING:
            self._require_none(OF_PAIRS, name)
            fixed = 1.0 if self.temperature is None else self.temperature
            return CLASSIFYING[name](self.unit_rows, fixed, self.learn_temperature, self.label_smoothing)
        self._require_none(OF_HEADS, "InfoNCE")
        assert isinstance(process, PairProcess)
        similarity = naming.similarity_named(self.similarity) if self.similarity else _matching(process)
        if (temperature := self.temperature) is None:
            temperature = _matching_temperature(process.conditional, similarity, output)
        return InfoNCE(similarity, temperature, self.learn_temperature, self.two_sided, self.group_size)

    def _require_none(self, options: tuple[str, ...], what: str) -> None:
        for option in options:
            require(not getattr(self, option), f"{what} has no {option.replace('_', ' ')}: leave it out.")

    def _output(self, process: Process) -> Output:
        contrastive = self._objective_name() == "infonce"
        return naming.output_named(self.output or (USUAL_OUTPUT[type(process.space)] if contrastive else "free"))


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
    told = read_config(config, get_type_hints(Settings)) if config else {}
    return Settings(**(told | {k: v for k, v in flags.items() if v is not None}))
