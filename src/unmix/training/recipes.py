"""How long, how large and how fast to train."""

from __future__ import annotations

import math
from dataclasses import replace

from unmix.encoders import outputs
from unmix.laws import AdditiveLaw, Uniform, VonMisesFisher
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy, InfoNCE, Regression
from unmix.processes import ClusterProcess, PairProcess, Process
from unmix.similarities import Dot, Lp, LpNorm
from unmix.spaces import Box, Euclidean
from unmix.training.batches import EvenLabels, Fresh, Local
from unmix.training.optimisers import SOAP, Adam
from unmix.training.recipe import Recipe
from unmix.training.schedules import Constant, OneCycle

__all__ = ["SOAP", "Adam", "Constant", "EvenLabels", "Fresh", "Local", "OneCycle", "Recipe", "fast", "paper", "suited"]
TRAINED = 1000  # instance labels, as most rows of the tables have
NARROW = 0.35  # standard deviation of a conditional by the marginal's: here `Local` cost nothing, at 1.04 it did


def fast(steps: int = 2000, batch: int = 1024, rate: float = 2e-2) -> Recipe:
    """Few steps at a high rate, for the small whitened encoder that is `encoders.MLP()` and an ordinary signal.

    Examples
    --------
    >>> fast(steps=200).batch
    1024
    """
    return Recipe(steps, batch, rate)


def suited(process: Process, model: Model) -> Recipe:
    """The recipe for the regime that a process and a model are in, by what they say of themselves alone.

    - An Lp similarity in a uniform box, or on R^d with a narrow conditional (a standard deviation of at most 0.35 of
      the marginal's): the loss saturates where the conditional is narrow, and near negatives are the limit. `Local`
      batches bring them near (above 2 dimensions, and if it is narrow), a wider kernel sees them, on R^d with a width
      for each anchor, and a box output grows slowly.
    - A dot product on a sphere with a fixed r²/τ below half the dimension: the loss hardly depends on the weights, and
      gradient noise is the limit. Many pairs, few negatives each; twice the pairs and more steps where the two views
      have little in common either (von Mises-Fisher with κ below half the dimension).
    - Cross-entropy: many rows at a higher rate.
    - DIET: the same, with instance labels drawn evenly, and a head that settles after a hundredth of the run. Of more
      than 1,000 labels, 1,000 are trained, or five a class if that is more, and the rows of the others follow from the
      encoder; unless labels are noisy or smoothed, where the optimum would be another. A head of more than 1,000 rows
      settles later, as the square of their number: it costs that.
    - Anything else, regression among it: `fast`.

    Examples
    --------
    >>> import unmix as um
    >>> box = um.PairProcess(um.Box(10), um.Uniform(), um.Laplace(0.05), um.mixings.MLP())
    >>> suited(box, um.Model(um.encoders.MLP(), um.InfoNCE(um.Lp(1)))).batches
    Local(rows=256, depth=10)
    """
    objective = model.objective
    if isinstance(objective, InfoNCE) and isinstance(process, PairProcess):
        return _contrastive(process, model, objective)
    if isinstance(objective, DIET) and isinstance(process, ClusterProcess):
        return _instances(process, objective)
    return _classes() if isinstance(objective, CrossEntropy) else fast()


def _classes() -> Recipe:
    return Recipe(6000, 4096, 3e-2)


def _instances(process: ClusterProcess, objective: DIET) -> Recipe:
    clean = not (process.label_noise or objective.label_smoothing)
    enough = max(TRAINED, 5 * process.classes)  # one class in 150 has none of five a class
    among = enough if clean and process.labels > enough else None
    settles = 0.01 * max(1.0, (among or process.labels) / TRAINED) ** 2
    return replace(_classes(), batches=EvenLabels(among), head_settles=min(1.0, settles))


def _contrastive(process: PairProcess, model: Model, objective: InfoNCE) -> Recipe:
    output, law = model.output, process.conditional
    distance, uniform_box = isinstance(objective.similarity, (Lp, LpNorm)), _is_uniform_box(process)
    narrow = isinstance(law, AdditiveLaw) and law.deviation <= NARROW * _deviation(process)
    if distance and (uniform_box or narrow):
        # Each axis once at most, so that regions stay wide against the conditional; a pool halved twice is one batch.
        halvings = min(10, process.dimension)
        near = Local(depth=halvings) if narrow and halvings > 2 else Fresh()
        return Recipe(6000, 1024, 2e-2, batches=near, widen=True, own_widths=not uniform_box, scale_rate=0.06)
    if isinstance(objective.similarity, Dot) and isinstance(output, outputs.Sphere):
        weak = objective.temperature * process.dimension > 2 * output.radius**2
        if weak and not (output.learnable or objective.learn_temperature):
            faint = isinstance(law, VonMisesFisher) and 2 * law.concentration < process.dimension
            return Recipe(12_000, 4096, 1e-2, group_size=256) if faint else Recipe(6000, 2048, 1e-2, group_size=512)
    return fast()


def _is_uniform_box(process: PairProcess) -> bool:
    return isinstance(process.space, Box) and isinstance(process.marginal, Uniform)


def _deviation(process: PairProcess) -> float:
    """The standard deviation of a latent in a uniform box and on R^d; 0 elsewhere, where no regime asks for it."""
    space, marginal = process.space, process.marginal
    if isinstance(space, Box) and isinstance(marginal, Uniform):
        return space.width / math.sqrt(12)
    return marginal.deviation if isinstance(space, Euclidean) and isinstance(marginal, AdditiveLaw) else 0.0


def paper(process: Process, model: Model) -> Recipe:
    """The published settings, for the published encoders: minutes to weeks on a CPU.

    Zimmermann et al. 2021 for InfoNCE and regression (`encoders.MLP.paper`). Reizinger et al. 2025 for cross-entropy
    and DIET (`encoders.MLP.paper` with batch norm): 50,000 epochs of N/1024 steps.
    """
    if isinstance(model.objective, CrossEntropy):
        labels = process.labels if isinstance(process, ClusterProcess) else 0
        return Recipe(50_000 * max(labels // 1024, 1), 1024, 1e-3, Adam(), Constant())
    steps = 100_001 if isinstance(model.objective, Regression) else 300_003
    return Recipe(steps, 6144, 1e-4, Adam(), Constant(), checkpoint_every=100)
