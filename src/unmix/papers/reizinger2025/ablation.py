"""What the ablations share: a grid of worlds, DIET and supervised, trained for a quarter of the steps.

The paper shows its ablations as heat maps without numbers and states trends. Grids and budget are ours: the shorter
runs keep apart what longer ones would all solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from unmix.indeterminacy import AFFINE
from unmix.objectives import DIET, CrossEntropy
from unmix.papers.effort import Effort
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.jobs import Classified
from unmix.papers.pictures import grid
from unmix.papers.reizinger2025 import setting
from unmix.processes import ClusterProcess
from unmix.sweeps import Job

SHARE, INSTANCES, CLUSTERS, DIMENSION = 4, 1000, 100, 5
BUDGET = (
    "Runs are a quarter as long as those of the tables, DIET with free rows and 1,000 instances; R² up to affine maps."
)


class Place(NamedTuple):
    """A place of the grid: its two labels, its process with instance labels, and a batch if not the recipe's."""

    first: str
    second: str
    process: ClusterProcess
    batch: int | None = None


def exhibit(
    name: str,
    title: str,
    heads: tuple[str, str],
    cells: Iterable[Place],
    note: str,
) -> Exhibit:
    """A heat map of R² of z for DIET and one for class labels, over a grid of processes."""
    places = dict(enumerate(cells, 1))

    def trained(objective: CrossEntropy) -> Callable[[Row, Effort, int], Job]:
        def job(row: Row, effort: Effort, seed: int) -> Job:
            process = setting.clustered(row)
            if not isinstance(objective, DIET):
                process = replace(process, instances=None)  # class labels do not ask for them
            model, recipe = effort(process, replace(row.model, objective=objective))
            size = places[row.number].batch or recipe.batch
            settles = min(1.0, recipe.head_settles * SHARE * recipe.batch / size)  # after as many draws as in tables
            shorter = replace(recipe, steps=recipe.steps // SHARE, head_settles=settles, batch=size)
            return Classified(process, model, shorter, seed)

        return job

    columns = (Column("DIET", "r2_z", trained(DIET())), Column("class labels", "r2_z", trained(CrossEntropy())))
    rows = tuple(
        Row(n, (c.first, c.second), c.process, setting.published_model(DIET(), c.process.dimension))
        for n, c in places.items()
    )
    reference = f"{setting.REFERENCE}, ablations (trends alone are published; grid and budget are ours)"
    return Exhibit(f"reizinger2025/{name}", title, reference, heads, columns, rows, AFFINE, grid, (note, BUDGET))
