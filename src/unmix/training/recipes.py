"""How long, how large and how fast to train."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from unmix.encoders import outputs
from unmix.errors import require, require_kind
from unmix.laws import Uniform, VonMisesFisher
from unmix.laws.additive import AdditiveLaw
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy, InfoNCE, Regression
from unmix.processes import ClusterProcess, PairProcess, Process
from unmix.similarities import Dot, Lp, LpNorm
from unmix.spaces import Box
from unmix.training.batches import Fresh, Local, SomeLabels


@dataclass(frozen=True)
class Constant:
    """The rate never changes.

    Examples
    --------
    >>> Constant().factor(0.3)
    1.0
    """

    def factor(self, progress: float) -> float:
        return 1.0


@dataclass(frozen=True)
class OneCycle:
    """The rate rises from a twenty-fifth to its peak by a cosine, then falls to zero by a cosine (Smith 2018).

    Examples
    --------
    >>> OneCycle(warmup=0.25).factor(0.25)
    1.0
    """

    warmup: float = 0.25

    def __post_init__(self) -> None:
        require(0 < self.warmup < 1, f"the warm-up is a share of the run between 0 and 1, not {self.warmup}.")

    def factor(self, progress: float) -> float:
        """The share of the peak rate, at a share `progress` in [0, 1] of the run."""
        if progress < self.warmup:
            return 0.04 + 0.96 * (1 - math.cos(math.pi * progress / self.warmup)) / 2
        return (1 + math.cos(math.pi * (progress - self.warmup) / (1 - self.warmup))) / 2


@dataclass(frozen=True)
class Recipe:
    """Adam on fresh batches of the process.

    Parameters
    ----------
    steps : the number of updates.
    batch : rows (or pairs of them) a step.
    rate : Adam's (peak) learning rate.
    schedule : how the rate moves over the run.
    batches : which rows a step takes: fresh ones, neighbours out of a pool, or those of some labels.
    scale_rate : the rate of the learned scale of the output and of the temperature, as a share of the others'. A box
        that grows slowly from a small extent is filled to its corners on the way, which turns the axes into place.
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
    schedule: OneCycle | Constant = field(default_factory=OneCycle)
    batches: Fresh | Local | SomeLabels = field(default_factory=Fresh)
    scale_rate: float = 1.0
    whitening_rows: int = 50_000
    checkpoint_every: int = 500
    log_every: int = 50

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "whitening_rows", "checkpoint_every", "log_every"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, f"{name} must be a whole number of at least 1, not {value}.")
        require(0 < self.rate < math.inf, f"the learning rate must be positive and finite, not {self.rate}.")
        require(0 < self.scale_rate < math.inf, f"scale_rate must be positive and finite, not {self.scale_rate}.")
        require_kind(self.batches, Fresh | Local | SomeLabels, "batches", "um.recipes.Fresh()")
        self.batches.check(self.batch)


def fast(steps: int = 4000, batch: int = 1024, rate: float = 1e-2) -> Recipe:
    """Few steps at a high rate, for the small whitened encoder that is `encoders.MLP()` and an ordinary signal.

    Examples
    --------
    >>> fast(steps=200).batch
    1024
    """
    return Recipe(steps, batch, rate)


def suited(process: Process, model: Model) -> Recipe:
    """The recipe for the regime that a process and a model are in, by what they say of themselves alone.

    - A uniform box and an Lp similarity: the loss saturates where the conditional is narrow, and near negatives are
      the limit. `Local` batches, and a box that grows slowly. Where similarity and conditional both fall off faster
      than a normal law, near pairs are rarer still and gradients steeper: twice the steps at half the rate.
    - A dot product on a sphere with a fixed r²/τ below the dimension: the loss hardly depends on the weights, and
      gradient noise is the limit. Small batches, and the more steps the smaller r²/τ is, up to 60,000; up to four times
      as many where the two views have little in common either (von Mises-Fisher with κ below the dimension).
    - Cross-entropy and DIET: a still higher rate, and more steps above 10 dimensions. With more than 2,000 instance
      labels a step takes twice the rows, and its softmax 500 of the labels.
    - Regression, where a step is cheap and the last tenths of a point take many of them: 20,000 steps.
    - Anything else: `fast`.

    Examples
    --------
    >>> import unmix as um
    >>> box = um.PairProcess(um.Box(10), um.Uniform(), um.Laplace(0.05), um.mixings.MLP())
    >>> suited(box, um.Model(um.encoders.MLP(), um.InfoNCE(um.Lp(1)))).batches
    Local(rows=256, depth=10, below=0.3)
    """
    objective = model.objective
    if isinstance(objective, InfoNCE) and isinstance(process, PairProcess):
        return _contrastive(process, model, objective)
    if isinstance(objective, CrossEntropy):
        many = isinstance(objective, DIET) and isinstance(process, ClusterProcess) and process.labels > 2000
        steps = round(20_000 * min(max(process.dimension / 10, 1), 2))
        if many:  # each row of the head learns from its own label's rows alone
            return Recipe(steps, 2048, 4e-2, batches=SomeLabels(500))
        return Recipe(steps, 1024, 4e-2)
    return fast(steps=20_000) if isinstance(objective, Regression) else fast()


def _contrastive(process: PairProcess, model: Model, objective: InfoNCE) -> Recipe:
    output, law = model.output, process.conditional
    uniform_box = isinstance(process.space, Box) and isinstance(process.marginal, Uniform)
    if uniform_box and isinstance(objective.similarity, (Lp, LpNorm)):
        steep = objective.similarity.p > 2 and isinstance(law, AdditiveLaw) and law.power > 2
        steps, rate, scale_rate = (40_000, 5e-3, 0.02) if steep else (20_000, 1e-2, 0.035)
        return Recipe(steps, 1024, rate, batches=Local(), scale_rate=scale_rate)
    if isinstance(objective.similarity, Dot) and isinstance(output, outputs.Sphere):
        weakness = process.dimension * objective.temperature / output.radius**2
        if weakness > 1 and not (output.learnable or objective.learn_temperature):
            vmf = isinstance(law, VonMisesFisher) and law.concentration > 0
            faintness = min(max(process.dimension / law.concentration, 1), 4) if vmf else 1  # type: ignore[attr-defined]
            return Recipe(round(6_000 * min(weakness, 10) * faintness), 512, 1e-2)
    return fast()


def paper(process: Process, model: Model) -> Recipe:
    """The published settings, for the published encoders: days on a CPU.

    Zimmermann et al. 2021 for InfoNCE and regression (`encoders.MLP.paper`). Reizinger et al. 2025 for cross-entropy
    and DIET (`encoders.MLP.paper` with batch norm): 50,000 epochs of N/1024 steps.
    """
    if isinstance(model.objective, CrossEntropy):
        labels = process.labels if isinstance(process, ClusterProcess) else 0
        return Recipe(50_000 * max(labels // 1024, 1), 1024, 1e-3, schedule=Constant())
    steps = 100_001 if isinstance(model.objective, Regression) else 300_003
    return Recipe(steps, batch=6144, rate=1e-4, schedule=Constant(), checkpoint_every=100)
