"""Two classifiers of one process, trained from different initial values, and how alike they become."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from unmix.comparison import compare
from unmix.files import write_atomically
from unmix.indeterminacy import AFFINE, Linear
from unmix.measures import CCA, recovery
from unmix.measures.score import Score
from unmix.model import Model, Network
from unmix.objectives.cross_entropy import Head
from unmix.processes import Labelled, SectorProcess
from unmix.randomness import stream
from unmix.sweeps import Progress
from unmix.training import Recipe, fit

MOMENTS = (0, 30, 100, 300, 1000, 2000, 4000, 8000, 15_000)
DOTS, RUNS = 300, ("first", "second")


@dataclass(frozen=True)
class Agreement:
    """Mean CCA of f and f′ on fresh rows at several moments of training, with its null.

    Attributes
    ----------
    moments : the steps at which the two are compared; the last is the recipe's.
    """

    process: SectorProcess
    model: Model
    recipe: Recipe
    seed: int = 0
    moments: tuple[int, ...] = MOMENTS
    rows: int = 4096

    def run(self, folder: Path) -> dict[str, Any]:
        world = self.process.with_seed(self.seed)
        rows = world.sample(self.rows, stream(self.seed, "evaluation"))
        spent, accuracy, seen = 0.0, [], []
        for which, name in enumerate(RUNS):
            at, seconds, correct = self._train(world, folder / name, 2 * self.seed + which, rows)
            seen.append(at)
            spent += seconds
            accuracy.append(correct)
        curve = []
        for moment in self.moments:
            score = compare(*(s[moment] for s in seen), measures=(CCA(),), seed=self.seed).pairs[0].score(CCA())
            assert isinstance(score, Score)
            curve.append({"step": moment, "cca": score.value, "low": score.low, "high": score.high, "null": score.null})
        first, second = (s[self.moments[-1]] for s in seen)
        aligned = recovery(second, first, seed=self.seed)
        moved = torch.from_numpy(aligned.recovered(second, Linear()))
        latents = [recovery(f, rows.z, seed=self.seed).r2(AFFINE) for f in (first, second)]
        last = curve[-1]
        return {
            "scores": {
                "cca": last["cca"],
                "cca_start": curve[0]["cca"],
                "r2": aligned.r2(Linear()),
                "r2_z": min(latents),
                "accuracy": min(accuracy),
            },
            "intervals": {"cca": [last["low"], last["high"]]},
            "nulls": {"cca": last["null"]},
            "curve": curve,
            "dots": [[round(float(v), 4) for v in pair] for pair in zip(first[:DOTS, 0], moved[:DOTS, 0], strict=True)],
            "seconds": spent,
            "steps": self.recipe.steps,
            "rows": self.rows,
        }

    def _train(
        self, world: SectorProcess, folder: Path, seed: int, rows: Labelled
    ) -> tuple[dict[int, Tensor], float, float]:
        """The embedding of the rows at each moment, the time it took, and the accuracy at the end."""
        folder.mkdir(parents=True, exist_ok=True)

        def watch(step: int, network: Network) -> None:
            if step in self.moments:
                write_atomically(_kept(folder, step), save({"f": network.embed(rows.x).contiguous()}))

        trained = fit(world, self.model, self.recipe, seed=seed, folder=folder / "run", progress=False, watch=watch)
        seen = {moment: load_file(_kept(folder, moment))["f"] for moment in self.moments}
        head = trained.network.loss
        assert isinstance(head, Head)
        best = (seen[self.moments[-1]] @ head.rows().detach().mT).argmax(1)
        return seen, trained.seconds, float((best == rows.label).float().mean())

    def __str__(self) -> str:
        return f"{self.process}: two classifiers, seeds {2 * self.seed} and {2 * self.seed + 1}"

    def progress(self, folder: Path) -> Progress | None:
        kept = [_kept(folder / run, moment) for run in RUNS for moment in self.moments]
        return Progress(sum(path.exists() for path in kept), len(kept))


def _kept(folder: Path, moment: int) -> Path:
    return folder / f"embedding{moment}.safetensors"
