"""The training loop for fixed rows: shuffled batches, a validation loss, the best weights kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from unmix.callbacks import Callback
from unmix.errors import TrainingDiverged, require
from unmix.estimators.rows import Rows, once, shuffled
from unmix.model import Network
from unmix.randomness import stream
from unmix.training.optimisers import Adam, optimiser_of, set_rates
from unmix.training.progress import FitProgress
from unmix.training.recipes import OneCycle

CHECKS = 50


@dataclass(frozen=True)
class Plan:
    """How long, how large and how fast to train, and when to stop."""

    steps: int
    batch: int
    unit: int
    rate: float
    patience: int
    seed: int
    device: str
    verbose: bool
    callbacks: Sequence[Callback]


def train(network: Network, rows: Rows, held_out: Rows | None, plan: Plan) -> list[dict[str, float]]:
    """Train in place and give the history; with held-out rows, the weights end as they were at their best.

    At most fifty times a run the loss is logged and the held-out loss taken; after `patience` times without a new best
    the run stops. A module with randomness of its own (dropout) is seeded too, and torch's global state left as it was.
    """
    optimiser, schedule = optimiser_of(network, plan.rate, Adam()), OneCycle()
    batches = shuffled(len(rows), plan.batch, plan.unit, stream(plan.seed, "batches"))
    views, every = stream(plan.seed, "views"), -(-plan.steps // CHECKS)
    history: list[dict[str, float]] = []
    best, kept, waited = math.inf, None, 0
    devices = [torch.device(plan.device)] if plan.device.startswith("cuda") else []
    with torch.random.fork_rng(devices), FitProgress(plan.steps, 0, plan.verbose) as shown:
        torch.manual_seed(plan.seed)
        network.train()
        for step in range(1, plan.steps + 1):
            set_rates(optimiser, schedule, (step - 1) / plan.steps)
            loss = network.training_loss(rows.batch(next(batches), views, plan.device))
            value = loss.item()
            if not math.isfinite(value):
                raise TrainingDiverged(step, f"the learning rate {plan.rate:g} is too high; try a tenth of it", None)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            shown.update(step, value)
            if step % every and step != plan.steps:
                continue
            line = {"step": float(step), "loss": value}
            if held_out is not None:
                line["validation"] = mean_loss(network, held_out, plan)
                waited = 0 if line["validation"] < best else waited + 1
                if waited == 0:
                    best, kept = line["validation"], {k: v.clone() for k, v in network.state_dict().items()}
            history.append(line)
            for callback in plan.callbacks:
                callback(step, {k: v for k, v in line.items() if k != "step"})
            if waited >= plan.patience:
                break
    if not all(bool(p.isfinite().all()) for p in network.parameters()):
        raise TrainingDiverged(step, f"the learning rate {plan.rate:g} is too high; try a tenth of it", None)
    if kept is not None:
        network.load_state_dict(kept)
    return history


def mean_loss(network: Network, rows: Rows, plan: Any) -> float:
    """The objective over all rows in evaluation mode, in batches: the same ones and the same views each time."""
    require(len(rows) >= max(2, plan.unit), f"a score needs at least {max(2, plan.unit)} rows, not {len(rows)}.")
    views, total, before = stream(plan.seed, "held-out views"), 0.0, network.training
    parts = once(len(rows), plan.batch, plan.unit, stream(plan.seed, "held-out order"))
    network.eval()
    try:
        with torch.no_grad():
            for index in parts:
                total += len(index) * network.training_loss(rows.batch(index, views, plan.device)).item()
    finally:
        network.train(before)
    return total / sum(map(len, parts))
