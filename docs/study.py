"""The recipe study: each regime by its recipe and without one ingredient at a time, score against time.

`python docs/study.py` runs what results/recipes.json does not hold yet, two runs at a time on a thread each (stop it
and start it again at any time), and writes the table of docs/recipes.md and docs/recipes.png. `--page` does only that.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import active_children, get_context
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from blocks import with_block
from matplotlib.axes import Axes

import unmix as um
from unmix.configuration import from_config, to_config
from unmix.files import read_json, write_json
from unmix.model import Model, Network
from unmix.papers.effort import fast
from unmix.papers.exhibit import Column, Row
from unmix.papers.jobs import Classified, Trained
from unmix.papers.names import exhibit_named
from unmix.papers.pictures import nines
from unmix.sheets import markdown_row
from unmix.training.descriptions import DESCRIPTIONS
from unmix.training.folder import versions

ROOT = Path(__file__).parent.parent
KEPT, PAGE, PICTURE = ROOT / "results" / "recipes.json", ROOT / "docs" / "recipes.md", ROOT / "docs" / "recipes.png"
MOMENTS, ROWS, SEED = 10, 16_384, 0
FIGURE = """![Held-out score against seconds, by the recipe and without an ingredient](recipes.png)

*Score of held-out rows against seconds of training on one core; dotted: the published mean. The axis counts nines: 99
and 99.9 are as far apart as 90 and 99. A line is one run, and every run is one cycle of the rate: its end is its
result, and its middle is not what a shorter run would reach.*
"""
Change = Callable[[Model, um.Recipe], tuple[Model, um.Recipe]]


@dataclass(frozen=True)
class Regime:
    """A cell of a table, and what is left out of its recipe in turn."""

    title: str
    table: str
    row: int
    column: str
    variants: tuple[str, ...]


def _of_recipe(**changes: object) -> Change:
    return lambda model, recipe: (model, replace(recipe, **changes))  # type: ignore[arg-type]


WHOLE = "the recipe"
CHANGES: dict[str, Change] = {
    WHOLE: lambda model, recipe: (model, recipe),
    "Adam": _of_recipe(optimiser=um.recipes.Adam()),
    "3 hidden layers": lambda model, recipe: (replace(model, encoder=um.encoders.MLP((64, 64, 64))), recipe),
    "not widened": _of_recipe(widen=False),
    "no neighbourhoods": _of_recipe(batches=um.recipes.Fresh()),
    "neither": _of_recipe(widen=False, batches=um.recipes.Fresh()),
    "all negatives": _of_recipe(group_size=None),
    "quarter batch in one group": lambda model, recipe: (
        model,
        replace(recipe, group_size=None, batch=recipe.batch // 4, steps=2 * recipe.steps),
    ),
    "box grows as weights do": _of_recipe(scale_rate=1.0),
    "half the steps": lambda model, recipe: (model, replace(recipe, steps=recipe.steps // 2)),
    "head never settles": _of_recipe(head_settles=1.0),
    "independent labels": _of_recipe(batches=um.recipes.Fresh()),
    "300 labels trained": _of_recipe(batches=um.recipes.EvenLabels(300)),
    "quarter batch": lambda model, recipe: (model, replace(recipe, batch=recipe.batch // 4, steps=2 * recipe.steps)),
}
REGIMES = (
    Regime("saturated, p = 3, unbounded", "zimmermann2021/table2", 7, "unsupervised",
           (WHOLE, "Adam", "3 hidden layers", "not widened", "no neighbourhoods", "neither")),
    Regime("saturated, p = 2, unbounded", "zimmermann2021/table2", 8, "R² of the same",
           (WHOLE, "Adam", "not widened", "no neighbourhoods")),
    Regime("saturated, p = 1 on p = 3, in a box", "zimmermann2021/table2", 5, "unsupervised",
           (WHOLE, "box grows as weights do")),
    Regime("low signal, vMF(10), τ = 1", "zimmermann2021/table1", 2, "unsupervised",
           (WHOLE, "Adam", "all negatives", "quarter batch in one group")),
    Regime("faint signal, vMF(1), τ = 1", "zimmermann2021/table1", 1, "unsupervised",
           (WHOLE, "Adam", "quarter batch in one group")),
    Regime("ordinary, regression", "zimmermann2021/table1", 1, "supervised", (WHOLE, "Adam", "half the steps")),
    Regime("classes, d = 20", "reizinger2025/table3", 3, "R² z", (WHOLE, "Adam", "3 hidden layers", "quarter batch")),
    Regime("classes, κ = 50", "reizinger2025/table3", 10, "R² z", (WHOLE, "Adam", "3 hidden layers")),
    Regime("instances, |C| = 10", "reizinger2025/table2", 5, "R²a z",
           (WHOLE, "head never settles", "independent labels")),
    Regime("instances, κ = 50", "reizinger2025/table2", 9, "R²a z",
           (WHOLE, "head never settles", "independent labels")),
    Regime("instances, 100,000 of them", "reizinger2025/table2", 2, "R²a z", (WHOLE, "300 labels trained")),
)  # fmt: skip


def row_of(regime: Regime) -> Row:
    return exhibit_named(regime.table).row(regime.row)


def column_of(regime: Regime) -> Column:
    return next(c for c in exhibit_named(regime.table).columns if c.title == regime.column)


def score_of(regime: Regime) -> str:
    return "MCC" if column_of(regime).score == "mcc" else "R²"


def job_of(regime: Regime) -> Trained | Classified:
    """The run of a table's cell."""
    job = column_of(regime).job(row_of(regime), fast, SEED)
    assert isinstance(job, (Trained, Classified))
    return job


def changed(regime: Regime, variant: str) -> tuple[Model, um.Recipe]:
    job = job_of(regime)
    return CHANGES[variant](job.model, job.recipe)


def follow(regime: Regime, variant: str) -> dict[str, object]:
    """One run: its score at ten moments of it, and the seconds of training up to each."""
    torch.set_num_threads(1)
    process = job_of(regime).process
    model, recipe = changed(regime, variant)
    seen = process.sample(ROWS, um.stream(SEED, "evaluation"))
    curve: list[tuple[float, float]] = []
    began, looked = time.perf_counter(), 0.0

    def watch(step: int, network: Network) -> None:
        nonlocal looked
        if step and step % (recipe.steps // MOMENTS) == 0:
            now = time.perf_counter()
            embedding = network.embed(seen.x)
            found = um.recovery(embedding, seen.z, bootstraps=40, permutations=99)
            value = (found.pearson if score_of(regime) == "MCC" else found.affine).value
            curve.append((now - began - looked, value))
            looked += time.perf_counter() - now

    um.fit(process, model, recipe, seed=SEED, progress=False, watch=watch)
    about = {"regime": regime.title, "variant": variant, **settings(regime, variant)}
    return about | {"seed": SEED, "steps": recipe.steps, "curve": curve, "versions": versions()}


def settings(regime: Regime, variant: str) -> dict[str, object]:
    """Model and recipe of a run, as a file holds them."""
    model, recipe = changed(regime, variant)
    return {"model": to_config(model), "recipe": to_config(recipe)}


def kept() -> dict[tuple[str, str], dict]:
    """The runs that are kept and still are what the recipe says; options that came since are at their defaults."""
    found = {(run["regime"], run["variant"]): run for run in (read_json(KEPT) if KEPT.exists() else [])}
    asked = {(r.title, v): changed(r, v) for r in REGIMES for v in r.variants}
    return {
        k: run
        for k, run in found.items()
        if asked.get(k) == tuple(from_config(run[n], DESCRIPTIONS) for n in ("model", "recipe"))
    }


def run() -> None:
    """What is not kept yet; every run is kept as soon as it ends."""
    done = kept()
    missing = [(r, v) for v in CHANGES for r in REGIMES if v in r.variants and (r.title, v) not in done]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        runs = [pool.submit(follow, regime, variant) for regime, variant in missing]
        for ended in as_completed(runs):
            try:
                found = ended.result()
            except BaseException:  # a run that failed, or Ctrl-C: what is kept stays, and nothing goes on
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in active_children():
                    worker.terminate()
                raise
            done[found["regime"], found["variant"]] = found
            write_json(KEPT, [done[r.title, v] for r in REGIMES for v in r.variants if (r.title, v) in done])
            print(found["regime"], "·", found["variant"], f"{100 * found['curve'][-1][1]:.2f}", flush=True)


def table() -> str:
    """The end of every run."""
    done = kept()
    lines = [markdown_row(["regime", "score", "published", "run", "at the end", "steps", "time to the end"])]
    lines.append("|" + "---|" * 7)
    for regime in REGIMES:
        for variant in regime.variants:
            found = done.get((regime.title, variant))
            if found:
                seconds, value = found["curve"][-1]
                named = [regime.title, score_of(regime), f"{row_of(regime).published[regime.column].mean:.2f}"]
                first = named if variant == WHOLE else ["", "", ""]
                told = f"**{variant}**" if variant == WHOLE else variant
                end = [f"{100 * value:.2f}", f"{found['steps']:,}", f"{seconds:.0f} s"]
                lines.append(markdown_row([*first, told, *end]))
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with its picture and table, as far as there are runs."""
    return with_block(page, "study", f"{FIGURE}\n{table()}" if KEPT.exists() else "*No run is kept yet.*\n")


def draw() -> None:
    """A panel a regime: score against seconds, in nines."""
    done = kept()
    begun = [regime for regime in REGIMES if (regime.title, WHOLE) in done]
    if not begun:
        return
    down, across = -(-len(begun) // 3), min(len(begun), 3)
    figure, axes = plt.subplots(down, across, figsize=(4.4 * across, 3.7 * down), layout="constrained", squeeze=False)
    for axis in axes.flat[len(begun) :]:
        axis.set_axis_off()
    for axis, regime in zip(axes.flat, begun, strict=False):
        _panel(axis, regime, done)
    figure.savefig(PICTURE, dpi=110)


def _panel(axis: Axes, regime: Regime, done: dict[tuple[str, str], dict]) -> None:
    for place, variant in enumerate(regime.variants):
        if (regime.title, variant) in done:
            seconds, values = zip(*done[regime.title, variant]["curve"], strict=True)
            bold = {"lw": 2.6, "zorder": 3} if variant == WHOLE else {"lw": 1.4}
            heights = [nines(100 * value) for value in values]
            axis.plot(seconds, heights, color=f"C{place}", label=variant, **bold)
    marks = [50, 80, 90, 95, 99, 99.5, 99.9, 99.99]
    axis.axhline(nines(row_of(regime).published[regime.column].mean), color="grey", ls=":", label="published")
    axis.set(title=regime.title, xscale="log", xlabel="seconds of one core", ylim=(nines(40), nines(99.995)))
    axis.set_xlim(1, 1500)
    axis.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axis.minorticks_off()
    axis.set_yticks([nines(mark) for mark in marks], [f"{mark:g}" for mark in marks])
    axis.set_ylabel(f"{score_of(regime)}, held out [%]")
    axis.legend(fontsize=8, loc="best")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--page", action="store_true", help="write the page and the picture of what is kept")
    if not asked.parse_args().page:
        run()
    PAGE.write_text(written(PAGE.read_text()))
    if KEPT.exists():
        draw()


if __name__ == "__main__":
    main()
