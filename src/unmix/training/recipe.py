"""How a model is trained, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from unmix.errors import brief, require, require_kind
from unmix.model import Model
from unmix.objectives import CrossEntropy, InfoNCE
from unmix.objectives.info_nce import require_groups, require_widened
from unmix.training.batches import EvenLabels, Fresh, Local
from unmix.training.optimisers import SOAP, Adam
from unmix.training.schedules import Constant, OneCycle


@dataclass(frozen=True)
class Recipe:
    """So many updates on batches of the process.

    Parameters
    ----------
    steps : the number of updates.
    batch : rows (or pairs of them) a step.
    rate : the (peak) learning rate.
    optimiser : what makes an update of a gradient.
    schedule : how the rate moves over the run.
    batches : which rows a step takes: independent ones, ones spread evenly over labels, or neighbours out of a pool.
    group_size, widen, own_widths : how InfoNCE is to take its negatives where the model does not say: few a pair, where
        pairs are what is short; through a wider kernel, where near negatives are, of one width or of each anchor's
        own (`InfoNCE`).
    scale_rate : the rate of the learned scale of the output and of the temperature, as a share of the others'. A box
        that grows slowly from a small extent is filled to its corners on the way, which turns the axes into place.
    head_settles : the share of the run after which rows of a head that lie near each other move together, and what one
        of them does alone counts less and less (`unmix.training.settling`). A row that still jitters is felt by the
        encoder, as if outputs were penalised by half the variance of their logits among rows that should be the same.
    whitening_rows : observations that whitening is estimated from.
    checkpoint_every, log_every : steps between checkpoints and between lines of metrics.jsonl.

    Examples
    --------
    >>> Recipe(steps=100, batch=64, rate=1e-2).schedule
    OneCycle(warmup=0.25)
    """

    steps: int
    batch: int
    rate: float
    optimiser: Adam | SOAP = field(default_factory=SOAP)
    schedule: OneCycle | Constant = field(default_factory=OneCycle)
    batches: EvenLabels | Fresh | Local = field(default_factory=Fresh)
    group_size: int | None = None
    widen: bool = False
    own_widths: bool = False
    scale_rate: float = 1.0
    head_settles: float = 1.0
    whitening_rows: int = 50_000
    checkpoint_every: int = 500
    log_every: int = 50

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "whitening_rows", "checkpoint_every", "log_every"):
            value = getattr(self, name)
            whole = isinstance(value, int) and value >= 1
            require(whole, f"{name} must be a whole number of at least 1, not {brief(value)}.")
        require(0 < self.rate < math.inf, f"the learning rate must be positive and finite, not {self.rate}.")
        require(0 < self.scale_rate < math.inf, f"scale_rate must be positive and finite, not {self.scale_rate}.")
        share = 0 < self.head_settles <= 1
        require(share, f"head_settles is a share of the run above 0, at most 1, not {self.head_settles}.")
        if self.group_size is not None:
            require_groups(self.batch, self.group_size)
        require_widened(self)
        require_kind(self.schedule, OneCycle | Constant, "schedule", "um.recipes.OneCycle()")
        require_kind(self.optimiser, Adam | SOAP, "optimiser", "um.recipes.SOAP()")
        require_kind(self.batches, EvenLabels | Fresh | Local, "batches", "um.recipes.Fresh()")
        self.batches.check(self.batch)

    def trained(self, model: Model) -> Model:
        """The model as this recipe trains it: the same, but for where InfoNCE takes its negatives.

        Examples
        --------
        >>> import unmix as um
        >>> Recipe(100, 64, 1e-2, widen=True).trained(um.Model(objective=um.InfoNCE(um.Lp(3)))).objective.widen
        True
        """
        objective = model.objective
        if self.head_settles < 1:
            require_kind(objective, CrossEntropy, "the objective of a recipe with head_settles", "um.DIET()")
        if not (self.group_size or self.widen):
            return model
        require_kind(objective, InfoNCE, "the objective of a recipe with group_size or widen", "um.InfoNCE()")
        assert isinstance(objective, InfoNCE)  # for the type checker
        size, widen = objective.group_size or self.group_size, self.widen or objective.widen
        own = objective.own_widths if objective.widen else self.own_widths
        return replace(model, objective=replace(objective, group_size=size, widen=widen, own_widths=own))
