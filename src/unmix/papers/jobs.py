"""What a cell of a table asks for: train or not, then measure against the true latents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import Any

from unmix.audit.clusters import EVALUATION_ROWS, cluster_recovery
from unmix.laws import VonMisesFisher
from unmix.measures import recovery
from unmix.model import Model
from unmix.processes import ClusterProcess, PairProcess
from unmix.randomness import stream
from unmix.sweeps import Progress
from unmix.training import Fit, Recipe, fit
from unmix.training.folder import METRICS

RUN, LONGEST_LINE = "run", 1000


@dataclass(frozen=True)
class Untrained:
    """Scores of the observations themselves: what the mixing alone leaves to see ("identity").

    Examples
    --------
    >>> import unmix as um
    >>> world = um.PairProcess(um.Box(2), um.Uniform(), um.Uniform(), um.mixings.Linear(pool=10))
    >>> round(Untrained(world, rows=1000).run(Path())["scores"]["r2"], 6)
    1.0
    """

    process: PairProcess
    seed: int = 0
    rows: int = EVALUATION_ROWS

    def run(self, folder: Path) -> dict[str, Any]:
        world = self.process.with_seed(self.seed)
        pairs = world.sample(self.rows, stream(self.seed, "evaluation"))
        return _measured(pairs.x, pairs.z, self.seed)

    def __str__(self) -> str:
        return f"{self.process.space}, {self.process.marginal}: observations, seed {self.seed}"

    def progress(self, folder: Path) -> None:
        return None


@dataclass(frozen=True)
class Trained:
    """Scores of a model trained on the process; the seed fixes the world and the training alike."""

    process: PairProcess
    model: Model
    recipe: Recipe
    seed: int = 0
    rows: int = EVALUATION_ROWS

    def run(self, folder: Path) -> dict[str, Any]:
        found = _fitted(self, folder)
        pairs = found.process.sample(self.rows, stream(self.seed, "evaluation"))
        return _measured(found.embed(pairs.x), pairs.z, self.seed) | _spent(found)

    def __str__(self) -> str:
        laws = f"{self.process.marginal}, {self.process.conditional}"
        return f"{self.process.space}, {laws}: {self.model.output}, {self.model.objective}, seed {self.seed}"

    def progress(self, folder: Path) -> Progress | None:
        return _progress(folder, self.recipe)


@dataclass(frozen=True)
class Classified:
    """Scores of a classifier trained on a cluster-centric process: latents, head and scale (`cluster_recovery`)."""

    process: ClusterProcess
    model: Model
    recipe: Recipe
    seed: int = 0
    rows: int = EVALUATION_ROWS

    def run(self, folder: Path) -> dict[str, Any]:
        trained = _fitted(self, folder)
        found = cluster_recovery(trained, rows=self.rows)
        scores, law = found.scores, self.process.conditional
        if isinstance(law, VonMisesFisher):
            scores["beta_over_kappa"] = found.beta / law.concentration
        held_out = {"r2_z": found.latents, "r2_w": found.head.rows, "r2_w_clusters": found.head.clusters}
        there = {name: part for name, part in held_out.items() if part is not None}
        return {
            "scores": scores,
            "intervals": {name: list(part.step(found.up_to).interval) for name, part in there.items()},
            "affine_nulls": {name: part.affine.null for name, part in there.items()},
            "refused": found.head.refused,
            "minimal": [str(c) for c in found.latents.minimal],
            "rows": self.rows,
        } | _spent(trained)

    def __str__(self) -> str:
        return f"{self.process}: {self.model.output}, {self.model.objective}, seed {self.seed}"

    def progress(self, folder: Path) -> Progress | None:
        return _progress(folder, self.recipe)


def _fitted(job: Trained | Classified, folder: Path) -> Fit:
    """The job's model, trained in the world of its seed, or read back."""
    world = job.process.with_seed(job.seed)
    return fit(world, job.model, job.recipe, seed=job.seed, folder=folder / RUN, progress=False)


def _spent(found: Fit) -> dict[str, Any]:
    """What the training cost, and how low its loss is next to the lowest that there can be."""
    return {"seconds": found.seconds, "steps": found.steps, "loss": found.optimality.as_dict()}


def _progress(folder: Path, recipe: Recipe) -> Progress | None:
    """From the last line of metrics.jsonl."""
    try:
        with open(folder / RUN / METRICS, "rb") as file:
            file.seek(max(0, file.seek(0, SEEK_END) - LONGEST_LINE))
            last = json.loads(file.read().splitlines()[-1])
        return Progress(int(last["step"]), recipe.steps, float(last["loss"]))
    except (OSError, ValueError, IndexError, KeyError, TypeError):  # not there yet, or just being written
        return None


def _measured(embedding: Any, truth: Any, seed: int) -> dict[str, Any]:
    found = recovery(embedding, truth, seed=seed)
    named = {"r2": found.affine, "mcc": found.pearson, "mcc_spearman": found.spearman}
    scores = {name: score for name, score in named.items() if score is not None}
    return {
        "scores": {name: score.value for name, score in scores.items()},
        "intervals": {name: [score.low, score.high] for name, score in scores.items()},
        "nulls": {name: score.null for name, score in scores.items()},
        "minimal": [str(c) for c in found.minimal],
        "rows": found.n,
    }
