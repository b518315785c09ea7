"""What `demo` and `fit` have in common: state, promise, train, measure, show, keep."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.padding import Padding

from unmix.audit import audit, recovery_table, save_recovery_figure
from unmix.audit.clusters import EVALUATION_ROWS, cluster_recovery
from unmix.audit.promise import promised
from unmix.factors import Continuous
from unmix.files import write_json
from unmix.measures import recovery
from unmix.model import Model
from unmix.objectives import CrossEntropy
from unmix.printable import escape
from unmix.processes import ClusterProcess, Process
from unmix.randomness import stream
from unmix.training import Interrupted, Recipe, fit


def run(process: Process, model: Model, recipe: Recipe, seed: int, folder: Path) -> None:
    """Fit, then print the recovery before and after and save recovery.json, recovery.png and report.html."""
    model.check(process, recipe.batch)
    console = Console(highlight=False)
    promise = promised(process, model, recipe)
    for label, text in (("Process", process), ("Model", model), ("Theory", promise)):
        console.print(f"[bold]{label}[/]")
        console.print(Padding(escape(str(text)), (0, 0, 0, 2)))
    console.print()

    stopped = False
    try:
        fitted = fit(process, model, recipe, seed=seed, folder=folder)
    except Interrupted as stop:
        fitted, stopped = stop.fit, True
    state = "trained" if fitted.finished else f"interrupted after {fitted.so_far}, trained"
    threads = torch.get_num_threads()
    console.print(f"{state} for {fitted.seconds:.0f} s on {threads} thread{'s' * (threads > 1)}\n")
    console.print("[bold]Loss[/]")
    console.print(Padding(escape(str(fitted.optimality)), (0, 0, 0, 2)))
    console.print()

    rows = process.sample(EVALUATION_ROWS, stream(seed, "evaluation"))
    embedding = fitted.embed(rows.x)
    classified = isinstance(process, ClusterProcess) and isinstance(model.objective, CrossEntropy)
    head = cluster_recovery(fitted, rows=EVALUATION_ROWS) if classified else None
    before = recovery(rows.x, rows.z, seed=seed)
    latents = {f"latent {k + 1}": z for k, z in enumerate(rows.z.T)}
    kinds = dict.fromkeys(latents, Continuous())
    report = audit(embedding, latents, kinds=kinds, name="the encoder", probe=False, seed=seed)
    together = report.whole if len(report.together) == len(latents) else None  # of the latents that are there at all
    after = together or recovery(embedding, rows.z, seed=seed)
    console.print(recovery_table({"before: observations": before, "after: the encoder": after}))
    console.print("\n[bold]Verdict[/]")
    console.print(Padding(after.verdict, (0, 0, 0, 2)))
    outcome = promise.outcome(after, embedding, rows.z)
    console.print(Padding(outcome, (0, 0, 0, 2)))

    found = {"before": before.as_dict(), "after": after.as_dict()}
    theory = {"theory": promise.as_dict() | {"outcome": outcome}}
    scores: dict[str, Any] = {**found, **theory, "steps": fitted.steps, "finished": fitted.finished}
    scores["loss"] = fitted.optimality.as_dict()
    if head:
        console.print("\n[bold]Head[/]")
        console.print(Padding(str(head), (0, 0, 0, 2)))
        scores["head"] = head.scores
    write_json(folder / "recovery.json", scores)
    compared = {"observations": (rows.x, before), "the encoder": (embedding, after)}
    save_recovery_figure(folder / "recovery.png", rows.z, compared, promise.shown)
    replace(report, context=(*promise.summary, outcome, str(fitted.optimality))).save(folder / "report.html")
    console.print(f"\n[bold]Picture[/]  {escape(str(folder / 'recovery.png'))}", soft_wrap=True)
    console.print(f"[bold]Report[/]   {escape(str(folder / 'report.html'))}", soft_wrap=True)
    if not fitted.finished:
        console.print("Run the same command again to go on from here.")
    if stopped:
        sys.exit(130)
