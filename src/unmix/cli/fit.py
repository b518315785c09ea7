"""`unmix fit`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import torch
from typer import Option

from unmix.cli.naming import LAWS, MIXINGS, OUTPUTS, choices
from unmix.cli.run import run
from unmix.cli.settings import settle
from unmix.errors import require

world = partial(Option, rich_help_panel="The process")
model = partial(Option, rich_help_panel="The model")
training = partial(Option, rich_help_panel="Training")


def fit(
    out: Annotated[Path, Option(help="The run folder. The same command again goes on where it was.")],
    space: Annotated[
        str | None, world(help="sphere (or sphere:RADIUS), box (or box:LOW:HIGH), euclidean. [sphere]")
    ] = None,
    dimension: Annotated[int | None, world(help="The number of latents. [10]")] = None,
    marginal: Annotated[
        str | None, world(help=f"How z is drawn, e.g. {choices(LAWS)}. [uniform; normal:1 on R^d]")
    ] = None,
    conditional: Annotated[
        str | None,
        world(
            help="How the second view is drawn around z, the same names. [vmf:10, laplace:0.05 or normal:1, by space]"
        ),
    ] = None,
    mixing: Annotated[str | None, world(help=f"{choices(MIXINGS)}. [mlp:3]")] = None,
    clusters: Annotated[int | None, world(help="Classes, for cross-entropy and diet. [100]")] = None,
    cluster_law: Annotated[str | None, world(help="How their vectors are drawn, a law's name. [uniform]")] = None,
    instances: Annotated[int | None, world(help="Instance labels, for diet. [1000]")] = None,
    label_noise: Annotated[float | None, world(help="The share of labels that are drawn at random. [0]")] = None,
    objective: Annotated[
        str | None,
        model(
            help="infonce, cross-entropy (class labels), diet (instance labels) or regression (the truth). [infonce]"
        ),
    ] = None,
    similarity: Annotated[
        str | None,
        model(help="dot; lp:P, the power −Σ|a−b|^P; or norm:P, the distance. [what matches the conditional]"),
    ] = None,
    temperature: Annotated[float | None, model(help="τ, or 1/β. [r²/κ for infonce with vmf and dot, else 1]")] = None,
    learn_temperature: Annotated[
        bool | None, model("--learn-temperature/--fixed-temperature", help="Whether τ is trained. [fixed]")
    ] = None,
    two_sided: Annotated[bool | None, model("--two-sided/--one-sided", help="Both views as anchors. [one]")] = None,
    group_size: Annotated[int | None, model(help="Negatives from groups of so many rows. [the batch]")] = None,
    unit_rows: Annotated[
        bool | None, model("--unit-rows/--free-rows", help="Whether rows of the head have length 1. [free]")
    ] = None,
    label_smoothing: Annotated[float | None, model(help="The share of a label spread over all. [0]")] = None,
    output: Annotated[
        str | None, model(help=f"Where outputs lie: {choices(OUTPUTS)}. [what matches the space]")
    ] = None,
    output_dimension: Annotated[int | None, model(help="The number of outputs. [as many as latents]")] = None,
    widths: Annotated[str | None, model(help="Hidden widths of the encoder. [64,64,64,64]")] = None,
    slope: Annotated[float | None, model(help="Slope of the encoder's LeakyReLU. [0.2]")] = None,
    whiten: Annotated[bool | None, model(help="Whiten observations first. [yes]")] = None,
    recipe: Annotated[
        str | None,
        training(help="fast, suited to the process; or paper, the published setting: minutes to weeks. [fast]"),
    ] = None,
    steps: Annotated[int | None, training(help="Updates. [the recipe's]")] = None,
    batch: Annotated[int | None, training(help="Rows, or pairs, a step. [the recipe's]")] = None,
    rate: Annotated[float | None, training(help="The peak rate. [the recipe's]")] = None,
    seed: Annotated[int | None, training(help="Which world and which training run. [0]")] = None,
    threads: Annotated[int | None, training(help="torch threads; 1 for runs in parallel. [torch's own]")] = None,
    config: Annotated[
        Path | None,
        Option(help="A TOML or JSON file that names process, model and training as these flags do; flags win."),
    ] = None,
) -> None:
    """Train an encoder on any simulated process, and measure what it recovers.

    What is left out is chosen to match: `unmix fit --space box --conditional laplace:0.05 --out runs/box`
    describes the model for which theory promises the latents up to permutation and one scale, and
    `unmix fit --objective diet --unit-rows --out runs/diet` one that never sees a class. Where the recipe
    trains another model than the one described, both are said: what is promised of what is trained, and
    what would be of what was described.
    """
    flags = {k: v for k, v in locals().items() if k not in ("out", "threads", "config")}
    settings = settle(flags, config)
    if threads is not None:
        require(threads >= 1, f"--threads must be at least 1, not {threads}.")
        torch.set_num_threads(threads)
    process = settings.process()
    described = settings.model(process)
    run(process, described, settings.training_recipe(process, described), settings.seed, out)
