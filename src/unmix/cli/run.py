"""What `demo` and `fit` have in common: state, promise, train, measure, show, keep."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from rich.console import Console

from unmix.audit import recovery_table, save_recovery_figure
from unmix.measures import recovery
from unmix.model import Model
from unmix.processes import PairProcess
from unmix.randomness import stream
from unmix.theory import guarantee
from unmix.training import Recipe, fit
from unmix.training.folder import RunFolder, read_json

EVALUATION_ROWS = 16_384


def run(process: PairProcess, model: Model, recipe: Recipe, seed: int, folder: Path) -> None:
    """Fit, then print the recovery before and after and save recovery.json and recovery.png in the folder."""
    console = Console(highlight=False)
    console.print(f"[bold]Process[/]  {process}")
    console.print(f"[bold]Model[/]    {model}")
    promise = guarantee(process, model)
    console.print(f"[bold]Theory[/]   {promise}\n")

    fitted = fit(process, model, recipe, seed=seed, folder=folder)
    state = "trained" if fitted.finished else f"interrupted after {fitted.steps} of {recipe.steps} steps, trained"
    console.print(
        f"{state} for {fitted.seconds:.0f} s on {torch.get_num_threads()} threads; run folder: {folder}\n",
        soft_wrap=True,
    )

    pairs = process.sample(EVALUATION_ROWS, stream(seed, "evaluation"))
    embedding = fitted.embed(pairs.x)
    before, after = recovery(pairs.x, pairs.z, seed=seed), recovery(embedding, pairs.z, seed=seed)
    console.print(recovery_table({"before: the mixing": before, "after: the encoder": after}))
    console.print(f"\n[bold]Verdict[/]  {after.verdict}")
    promised = f"the promise was: {promise.promise}." if promise else "nothing was promised."
    console.print(f"[bold]Theory[/]   {promised}")

    keep = RunFolder(folder, read_json(folder / "config.json"))
    keep.write_json("recovery.json", {"before": before.as_dict(), "after": after.as_dict(), "steps": fitted.steps})
    picture = folder / "recovery.png"
    save_recovery_figure(
        picture, pairs.z, {"before: the mixing": (pairs.x, before), "after: the encoder": (embedding, after)}
    )
    console.print(f"[bold]Picture[/]  {picture}", soft_wrap=True)
    if not fitted.finished:
        console.print("Run the same command again to go on from here.")
        sys.exit(130)
