"""How the rows of a step are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from unmix.errors import require, require_kind
from unmix.objectives import DIET, Objective
from unmix.processes import ClusterProcess, PairProcess, Process
from unmix.training.sources import FreshSource, LocalSource, Source


@dataclass(frozen=True)
class Fresh:
    """Every step draws its own rows, independently.

    Examples
    --------
    >>> Fresh().check(1024)
    """

    def check(self, batch: int) -> None:
        """Every size of batch will do."""

    def check_use(self, process: Process, objective: Objective) -> None:
        """Every process and objective will do."""

    def source(self, process: Process, batch: int, generator: torch.Generator) -> Source:
        return FreshSource(process.sample, batch, generator)


@dataclass(frozen=True)
class EvenLabels:
    """Every step draws its rows evenly over the instance labels, as an epoch of a dataset does.

    A label of probability p has n·p of the n rows of a step, to less than one (before label noise). Where clusters are
    narrow, how often its label is drawn is most of the noise that a row of the head sees: the sum of f(x) over k draws
    has variance k E|f − Ef|² if k is fixed, and about k |Ef|² more if it is free. A label still has n·p rows in
    expectation, so the expected loss is the same. With fewer rows than labels there is little to gain.

    With many labels, a run of DIET may draw `among` of them once, and train on the rows of that set S alone. The
    posterior of a label that lies in S is the full one restricted to S, so f and w of a full softmax that is exact are
    an optimum of p(i|x, S) ∝ exp(β⟨w_i, f(x)⟩) too: the form in which Roeder et al. 2021 state their theorem. A step
    costs B × |S| instead of B × N. The rows of the other labels follow from the trained encoder, by a small problem
    each that is convex where rows are free (`unmix.training.left_out`). Where no head can express the posterior, the
    optimum depends on S. With label noise or smoothing that is certain, and they are refused.

    Parameters
    ----------
    among : |S|; None is all labels. Several times the number of classes, so that hardly one is left out.

    Examples
    --------
    >>> EvenLabels(among=500).check(1024)
    """

    among: int | None = None

    def __post_init__(self) -> None:
        whole = self.among is None or (isinstance(self.among, int) and self.among >= 2)
        require(whole, f"a softmax needs at least 2 labels, not {self.among!r}.")

    def check(self, batch: int) -> None:
        """Every size of batch will do."""

    def check_use(self, process: Process, objective: Objective) -> None:
        require_kind(process, ClusterProcess, "the process of even labels", "um.ClusterProcess(...)")
        assert isinstance(process, ClusterProcess)  # for the type checker
        if self.among is not None:
            require_kind(objective, DIET, "the objective of even labels among some", "um.DIET()")
            assert isinstance(objective, DIET)
            require(
                process.label_noise == 0 and objective.label_smoothing == 0,
                "with label noise or smoothing the optimum depends on how many labels are drawn from: take "
                "um.recipes.EvenLabels().",
            )
            require(
                self.among <= process.labels,
                f"there are {process.labels} instance labels: a run cannot draw {self.among} of them.",
            )

    def source(self, process: Process, batch: int, generator: torch.Generator) -> Source:
        assert isinstance(process, ClusterProcess)
        some = self.among is not None and self.among < process.labels
        among = torch.randperm(process.labels, generator=generator)[: self.among] if some else None

        def sample(n: int, generator: torch.Generator) -> Any:
            return process.sample(n, generator, among=among, even=True)

        return FreshSource(sample, batch, generator, among)


@dataclass(frozen=True)
class Local:
    """Batches of neighbours, nearer to each other pool by pool.

    Where the conditional is narrow, nearly all negatives of a random batch are too far away to carry a gradient (in a
    box of 10 dimensions with a normal conditional of scale 0.05, two pairs in 10,000 weigh e^-38 or more, a positive
    e^-5 on average), and InfoNCE stops learning at a small loss. Neighbours are near. A pool of `rows` · 2^`depth`
    fresh pairs is cut into regions by halving it again and again (`regions`), in the coordinates of the encoder as it
    is when the pool is drawn; no latent is looked at. Each step takes a few blocks of `rows` pairs, the anchors of a
    block from one region; each block serves once. The first pool is not cut at all, and each is cut once more than the
    one before: far points are put in their places first, then near ones.

    The optimum stays where it was. At full depth a block is one region, and regions are of equal mass, so wherever a
    batch has negatives their density is p(x̃) times one constant, and the best critic there, log p(x̃|x) less the log of
    that density, is that of random ones up to a constant. (On the way there two blocks of a batch may be of one region,
    whose negatives then count twice.) Positives that have left the regions of their batch, where no negative is, make
    the best scale of the output smaller than the law's own, but have no preferred direction, because regions are cut
    along random axes each time. Several blocks in one batch keep far points apart.

    Where the marginal is not uniform, a distance is not the best critic of random negatives either. While the
    conditional is narrow against the marginal and the regions, that does not matter: up to a constant InfoNCE is then
    E|Jε|^p − E log|det J| with J the Jacobian of the embedding in z, least at every point for the same J, however many
    points are there. Where it is wide, the optimum depends on where negatives come from.

    Parameters
    ----------
    rows : pairs a block; a batch is a whole number of blocks.
    depth : how often a pool is halved at most.

    Examples
    --------
    >>> Local(rows=256, depth=10).pool
    262144
    """

    rows: int = 256
    depth: int = 10

    def __post_init__(self) -> None:
        some = isinstance(self.rows, int) and self.rows >= 2
        require(some, f"a block needs at least 2 rows, a whole number, to have a negative, not {self.rows!r}.")
        halved = isinstance(self.depth, int) and 0 <= self.depth <= 24
        require(halved, f"the pool is halved 0 to 24 times, not {self.depth!r}.")

    @property
    def pool(self) -> int:
        return self.rows << self.depth

    def check(self, batch: int) -> None:
        require(
            batch % self.rows == 0,
            f"a batch of {batch} is no whole number of blocks of {self.rows} rows: make it a multiple of {self.rows}.",
        )
        require(
            batch <= self.pool,
            f"a batch of {batch} is more than a pool of {self.pool}: make it smaller, or halve the pool more often.",
        )

    def check_use(self, process: Process, objective: Objective) -> None:
        require_kind(process, PairProcess, "the process of local batches", "um.PairProcess(...)")

    def source(self, process: Process, batch: int, generator: torch.Generator) -> Source:
        assert isinstance(process, PairProcess)
        return LocalSource(process, self.rows, self.depth, batch // self.rows, generator)
