"""Where a run begins, and how one is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from unmix.configuration import from_config
from unmix.errors import InputError, RunFolderError, require_kind
from unmix.files import read_json
from unmix.model import Model, Network
from unmix.processes import Process
from unmix.randomness import stream
from unmix.training import checkpoint, left_out
from unmix.training.descriptions import DESCRIPTIONS
from unmix.training.folder import CONFIG, WEIGHTS, RunFolder
from unmix.training.optimisers import optimiser_of
from unmix.training.recipe import Recipe
from unmix.training.result import Fit
from unmix.training.room import require_room_for
from unmix.training.sources import Source


def load(folder: str | Path) -> Fit:
    """A run read back from its folder, as far as it got, without training.

    Examples
    --------
    >>> load("no/such/run")
    Traceback (most recent call last):
    unmix.errors.RunFolderError: no/such/run holds no run: give the folder that `fit` wrote.
    """
    if not (Path(folder) / CONFIG).exists():
        raise RunFolderError(f"{folder} holds no run: give the folder that `fit` wrote.")
    config = read_json(Path(folder) / CONFIG)
    if not (isinstance(config, dict) and set(config) == {"process", "model", "recipe", "seed"}):
        raise RunFolderError(
            f"{Path(folder) / CONFIG} is damaged: it must name a process, a model, a recipe and a seed."
        )
    parts = ("process", "model", "recipe", "seed")
    process, model, recipe, seed = (from_config(config[part], DESCRIPTIONS) for part in parts)
    require_kind(process, Process, "the process in config.json", "um.PairProcess(...)")
    require_kind(model, Model, "the model in config.json", "um.Model(...)")
    require_kind(recipe, Recipe, "the recipe in config.json", "um.recipes.fast()")
    require_room_for(process, model, recipe)
    try:
        return read_back(process, model, recipe, seed, RunFolder(folder))
    except (InputError, RunFolderError):
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        raise RunFolderError(
            f"{Path(folder) / CONFIG} describes no run that can be built ({error}): choose another folder."
        ) from error


def read_back(process: Process, model: Model, recipe: Recipe, seed: int, run: RunFolder) -> Fit:
    """The run as far as it got: its final weights if there are any, else its checkpoint."""
    final = run.read_tensors(WEIGHTS)
    if final is None:
        network, optimiser, batches = start(process, model, recipe, seed)
        done, seconds = checkpoint.restore(run, network, optimiser, batches)
        if done == 0:
            raise RunFolderError(f"{run.path} has no checkpoint yet: fit with this folder to train it.")
    else:
        network = build(process, model, recipe, seed)
        try:
            network.load_state_dict(final[0])
            done, seconds = int(final[1]["step"]), float(final[1]["seconds"])
        except (RuntimeError, KeyError, TypeError, ValueError):
            raise RunFolderError(
                f"{run.path / WEIGHTS} does not fit this run's model: delete it and fit again with this folder."
            ) from None
    log = [line for line in run.metrics() if line["step"] <= done]
    return Fit(process, model, recipe, seed, network, losses(log), done, seconds, run.path)


def build(process: Process, model: Model, recipe: Recipe, seed: int) -> Network:
    """The network before training, with a row of the head for every label."""
    sample = process.sample(recipe.whitening_rows, stream(seed, "whitening")).x
    return recipe.trained(model).build(process, sample, stream(seed, "init"))


def start(process: Process, model: Model, recipe: Recipe, seed: int) -> tuple[Network, torch.optim.Optimizer, Source]:
    """A network, an optimiser and a stream of batches as they are before the first step."""
    network = build(process, model, recipe, seed)
    batches = recipe.batches.source(process, recipe.batch, stream(seed, "batches"))
    if batches.among is not None:
        left_out.cut(network, batches.among)
    return network, optimiser_of(network, recipe.rate, recipe.optimiser, recipe.scale_rate), batches


def losses(log: list[dict[str, Any]]) -> tuple[tuple[int, float], ...]:
    """Step and loss of each line of metrics.jsonl."""
    return tuple((line["step"], line["loss"]) for line in log)
