"""What `fit` gives back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.errors import require
from unmix.measures.rows import as_matrix
from unmix.model import Model, Network
from unmix.processes import Process
from unmix.training.recipes import Recipe

if TYPE_CHECKING:
    from unmix.optimality import Optimality


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A trained model and how it came about.

    Attributes
    ----------
    network : the trained network.
    losses : (step, loss) as logged.
    steps, seconds : updates done, and the time that training took over all sessions of the run.
    folder : the run folder, or None.
    """

    process: Process
    model: Model
    recipe: Recipe
    seed: int
    network: Network
    losses: tuple[tuple[int, float], ...]
    steps: int
    seconds: float
    folder: Path | None

    @property
    def finished(self) -> bool:
        """Whether every step was done and every label has its row; if not, fitting again with the folder goes on."""
        return self.steps == self.recipe.steps and getattr(self.network.loss, "among", None) is None

    @property
    def so_far(self) -> str:
        """How much of the run is done, in words."""
        steps = f"{self.steps} of {self.recipe.steps} steps"
        if self.finished or self.steps < self.recipe.steps:
            return steps
        head: Any = self.network.loss
        return f"{steps} with the rows of {len(head.among)} labels only"

    def __repr__(self) -> str:
        state = "finished" if self.finished else "unfinished"
        return f"Fit({state}, {self.so_far} in {self.seconds:.0f} s, {self.folder})"

    @cached_property
    def optimality(self) -> Optimality:
        """The loss on fresh batches next to the lowest that there can be, and to that of the true inverse.

        It takes seconds, and is kept once it is found.
        """
        from unmix.optimality import optimality  # it knows this class

        return optimality(self)

    def embed(self, x: Any, batch: int = 65_536) -> Float[Tensor, "n d"]:
        """f(x) in batches, without gradients."""
        if not isinstance(x, Tensor) or x.is_complex():
            x = torch.from_numpy(as_matrix(x, "the table of observations"))
        x = x.float()
        width = self.process.dimension
        require(
            x.ndim == 2 and x.shape[1] == width and len(x) > 0,
            f"embed takes a table of observations with {width} columns, not one of shape {tuple(x.shape)}.",
        )
        require(bool(x.isfinite().all()), "the observations have NaN or infinite values: remove those rows first.")
        return self.network.embed(x, batch)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `fit`, after the step under way was finished and kept; `fit` holds what there is."""

    def __init__(self, fit: Fit) -> None:
        super().__init__(fit)  # as given, so that it can be handed from process to process
        self.fit = fit

    def __str__(self) -> str:
        fit = self.fit
        again = "reads it back" if fit.finished else "goes on from here"
        goes_on = f"; fitting again with the folder {fit.folder} {again}" if fit.folder else ""
        return f"interrupted after {fit.so_far}{goes_on}"
