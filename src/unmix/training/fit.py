"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from unmix.callbacks import Callback
from unmix.configuration import to_config
from unmix.errors import TrainingDiverged, require_kind
from unmix.model import Model, Network
from unmix.processes import ClusterProcess, Process
from unmix.randomness import stream
from unmix.training import checkpoint, left_out, recipes
from unmix.training.folder import CHECKPOINT, WEIGHTS, RunFolder
from unmix.training.interrupt import Interrupt
from unmix.training.load import losses, read_back, start
from unmix.training.optimisers import set_rates
from unmix.training.progress import FitProgress
from unmix.training.recipe import Recipe
from unmix.training.result import Fit, Interrupted
from unmix.training.room import require_room_for
from unmix.training.settling import own_share, settle


def fit(
    process: Process,
    model: Model,
    recipe: Recipe | None = None,
    *,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: bool = True,
    watch: Callable[[int, Network], None] | None = None,
    callbacks: Sequence[Callback] = (),
) -> Fit:
    """Train the model on fresh rows of the process.

    With a folder the run is kept: fitting again with the same arguments goes on from the last checkpoint
    after a crash or Ctrl-C, with the same numbers as if nothing had happened, and a finished run is read
    back instead of trained again. The seed splits into independent streams for initial weights, batches,
    whitening and rows found at the end; the process's own seed fixes the mixing.

    Parameters
    ----------
    recipe : how to train; None is `recipes.suited(process, model)`.
    folder : where to keep the run; None keeps nothing.
    progress : whether to show it on stderr.
    watch : called with the number of steps done and the network, before the first step and after each; a run that goes
        on calls it again for the steps since its last checkpoint. A network that is trained on some labels has their
        rows alone (`network.loss.among`) until the last step is done.
    callbacks : called with step, loss and seconds whenever these are logged (`um.callbacks`).

    Raises
    ------
    Interrupted : Ctrl-C; the step under way was finished and kept, and `.fit` holds what there is. (Rows of labels left
        out that were being found are found anew when the run goes on.)
    TrainingDiverged : the loss became NaN or infinite.
    RunFolderError : the folder belongs to another config, or cannot be written.

    Examples
    --------
    >>> import unmix as um
    >>> process = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.Linear(pool=10))
    >>> model = um.Model(um.encoders.MLP((16,)), um.InfoNCE(um.Dot(), 0.1), um.outputs.Sphere())
    >>> result = um.fit(process, model, um.Recipe(steps=5, batch=32, rate=1e-2), progress=False)
    >>> result.finished, result.embed(process.sample(4).x).shape
    (True, torch.Size([4, 3]))
    """
    require_kind(process, Process, "process", "um.PairProcess(...)")
    require_kind(model, Model, "model", "um.Model(...)")
    recipe = recipes.suited(process, model) if recipe is None else recipe
    require_kind(recipe, Recipe, "recipe", "um.recipes.fast(steps=200)")
    recipe.trained(model).check(process, recipe.batch)
    recipe.batches.check_use(process, model.objective)
    require_room_for(process, model, recipe)
    stream(seed, "batches")  # refuses a bad seed before anything is written
    for callback in callbacks:
        require_kind(callback, Callback, "a callback", "um.callbacks.TensorBoard(folder)")
    if folder is None:
        return _train(process, model, recipe, seed, None, progress, watch, callbacks)
    run, config = RunFolder(folder), _config(process, model, recipe, seed)
    run.check(config)
    if (run.path / WEIGHTS).exists():
        return read_back(process, model, recipe, seed, run)
    with run.claimed(config):
        return _train(process, model, recipe, seed, run, progress, watch, callbacks)


def _train(
    process: Process,
    model: Model,
    recipe: Recipe,
    seed: int,
    run: RunFolder | None,
    progress: bool,
    watch: Callable[[int, Network], None] | None,
    callbacks: Sequence[Callback],
) -> Fit:
    network, optimiser, batches = start(process, model, recipe, seed)
    done, earlier = checkpoint.restore(run, network, optimiser, batches) if run else (0, 0.0)
    log = run.cut_metrics(done) if run else []
    if watch and done == 0:
        watch(0, network)
    seconds, began = earlier, time.perf_counter()

    with FitProgress(recipe.steps, done, progress) as shown, Interrupt() as interrupt:
        for step in range(done + 1, recipe.steps + 1):
            progressed = (step - 1) / recipe.steps
            set_rates(optimiser, recipe.schedule, progressed)
            rows = batches.next(network.embed)
            loss = network.training_loss(rows)
            value = loss.item()
            if not math.isfinite(value):
                raise _diverged(step, rows.x, recipe, run)
            optimiser.zero_grad()
            loss.backward()
            settle(network, own_share(progressed, recipe.head_settles))
            optimiser.step()

            if watch:  # before the checkpoint: what a kill in between cuts off is seen again
                watch(step, network)
            done, seconds = step, earlier + time.perf_counter() - began
            if step == recipe.steps or step % recipe.log_every == 0:
                log.append({"step": step, "loss": value, "seconds": seconds})
                if run:
                    run.append_metrics(log[-1])
                for callback in callbacks:
                    callback(step, {"loss": value, "seconds": seconds})
            stop = interrupt.requested  # read once, so that what is said to be kept is kept
            if step == recipe.steps or step % recipe.checkpoint_every == 0 or stop:
                if not all(bool(p.isfinite().all()) for p in network.parameters()):
                    raise _diverged(step, rows.x, recipe, run)
                if run:
                    checkpoint.save(run, network, optimiser, batches, step, seconds)
            shown.update(step, value)
            if stop:
                break

        if done == recipe.steps and batches.among is not None and not interrupt.requested:
            assert isinstance(process, ClusterProcess)  # or the recipe would have refused it
            left_out.complete(network, process, stream(seed, "rows"), shown.blocks, lambda: interrupt.requested)
            seconds = earlier + time.perf_counter() - began

    result = Fit(process, model, recipe, seed, network, losses(log), done, seconds, run.path if run else None)
    if run and result.finished:
        run.write_tensors(WEIGHTS, network.state_dict(), {"step": done, "seconds": seconds})
    if interrupt.requested:  # also in the last step: whoever pressed Ctrl-C wants the whole program to stop
        raise Interrupted(result)
    return result


def _config(process: Process, model: Model, recipe: Recipe, seed: int) -> dict[str, Any]:
    parts = {"process": process, "model": model, "recipe": recipe, "seed": seed}
    return {name: to_config(part) for name, part in parts.items()}


def _diverged(step: int, x: Tensor, recipe: Recipe, run: RunFolder | None) -> TrainingDiverged:
    if not bool(x.isfinite().all()):
        cause = "the process gave observations that are NaN or infinite"
    else:
        cause = f"the learning rate {recipe.rate:g} is too high, or the temperature too low; try a tenth of the rate"
    kept = run.path / CHECKPOINT if run else None
    return TrainingDiverged(step, cause, str(kept) if kept and kept.exists() else None)
