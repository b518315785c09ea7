"""The cluster-centric process: a class, a latent near its cluster vector, an observation and two labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from unmix.errors import require, require_kind
from unmix.laws import Law
from unmix.memory import require_room
from unmix.mixings import Mixing
from unmix.processes import diversity
from unmix.processes.clusters import ClusterVectors, frequencies_of
from unmix.processes.process import Process, require_count
from unmix.randomness import stream
from unmix.spaces import Space


class Instances(NamedTuple):
    """Latents z and observations x, each (n, d), with a class label and an instance label, each (n,).

    Where rows were drawn among some instance labels, `instance` is a position among these.
    """

    z: Tensor
    x: Tensor
    label: Tensor
    instance: Tensor


@dataclass(frozen=True)
class ClusterProcess(Process):
    """i ~ uniform, c = i mod |C|, z ~ conditional(· | v_c), x = g(z) (Reizinger et al. 2025).

    An instance label has no latent of its own: all instances of a class share one law. `seed` fixes the cluster
    vectors and the mixing.

    Parameters
    ----------
    clusters : the cluster vectors v_c: `um.Clusters(100)`, of another law, or `um.GivenClusters`.
    conditional : the law of z around v_c.
    instances : N, the number of instance labels; None is one a class.
    frequencies : of the classes; None draws instance labels uniformly. Within a class they are always uniform.
    label_noise : the share of rows whose labels are replaced by those of a uniformly drawn instance, after z is drawn.

    Examples
    --------
    >>> import unmix as um
    >>> process = um.ClusterProcess(
    ...     um.Sphere(5), um.Clusters(100), um.VonMisesFisher(10.0), um.mixings.MLP(4, pool=100), instances=1000
    ... )
    >>> rows = process.sample(8, torch.Generator().manual_seed(0))
    >>> rows.x.shape, bool((rows.instance % 100 == rows.label).all())
    (torch.Size([8, 5]), True)
    >>> um.ClusterProcess(um.Sphere(5), um.Clusters(10), um.VonMisesFisher(10.0), um.mixings.MLP(4)).failing
    ('the cluster vectors are diverse: [vech(vvᵀ), v] has rank d(d+3)/2 = 20 (it has 10)',)
    """

    space: Space
    clusters: ClusterVectors
    conditional: Law
    mixing: Mixing
    instances: int | None = None
    frequencies: tuple[float, ...] | None = None
    label_noise: float = 0.0
    seed: int = 0
    gives: ClassVar[tuple[str, ...]] = Instances._fields

    def __post_init__(self) -> None:
        self.check()
        require_kind(self.clusters, ClusterVectors, "clusters", "um.Clusters(100)")
        require_kind(self.conditional, Law, "conditional", "um.VonMisesFisher(10.0)")
        self.conditional.check(self.space)
        n = self.instances
        require(
            n is None or (isinstance(n, int) and n >= self.classes),
            f"every class needs an instance label: give at least {self.classes} instances, not {n!r}.",
        )
        share = isinstance(self.label_noise, (int, float)) and 0 <= self.label_noise <= 1
        require(share, f"label noise is a share between 0 and 1, not {self.label_noise!r}.")
        if self.frequencies is not None:
            object.__setattr__(self, "frequencies", frequencies_of(self.frequencies, self.classes))
        require_room(8 * self.classes * self.dimension, "a vector for every cluster", "take fewer clusters")
        _ = self.vectors  # refuses vectors that do not fit the space

    @property
    def classes(self) -> int:
        """|C|."""
        return self.clusters.count

    @property
    def labels(self) -> int:
        """N, the number of instance labels."""
        return self.instances or self.classes

    @cached_property
    def vectors(self) -> Float64[Tensor, "c d"]:
        """The cluster vectors v_c."""
        return self.clusters.draw(self.space, stream(self.seed, "clusters"))

    @cached_property
    def class_of(self) -> Int64[Tensor, " n"]:
        """The class of each instance label."""
        return torch.arange(self.labels) % self.classes

    @cached_property
    def probabilities(self) -> Float64[Tensor, " n"]:
        """Of the instance labels."""
        if self.frequencies is None:
            return torch.full((self.labels,), 1 / self.labels, dtype=torch.float64)
        share = torch.tensor(self.frequencies, dtype=torch.float64) / sum(self.frequencies)
        return (share / self.class_of.bincount())[self.class_of]

    def sample(
        self,
        n: int,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
        among: Int64[Tensor, " m"] | None = None,
        even: bool = False,
    ) -> Instances:
        """n rows, of all instance labels or of those in `among`: then `instance` is a position in it.

        Rows are independent unless labels are `even`: then one of probability p among them has n·p rows, to less than
        one, before label noise.
        """
        require_count(n)
        if among is not None:
            self._require_labels(among, "`among`")
        possible = self.class_of if among is None else self.class_of[among]
        drawn = self._draw(n, among, len(possible), even, generator)
        z = self._latents(possible[drawn], generator, dtype)
        if self.label_noise:
            wrong = torch.rand(n, generator=generator) < self.label_noise
            drawn = torch.where(wrong, torch.randint(len(possible), (n,), generator=generator), drawn)
        return Instances(z, self.observe(z), possible[drawn], drawn)

    def sample_labels(
        self,
        instance: Int64[Tensor, " n"],
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> Instances:
        """One row of each of these instance labels, before label noise."""
        self._require_labels(instance, "`instance`")
        label = self.class_of[instance]
        z = self._latents(label, generator, dtype)
        return Instances(z, self.observe(z), label, instance)

    def _require_labels(self, labels: Tensor, name: str) -> None:
        inside = labels.ndim == 1 and len(labels) > 0 and 0 <= int(labels.min()) <= int(labels.max()) < self.labels
        require(inside, f"{name} must be a row of instance labels from 0 to {self.labels - 1}, at least one.")

    def _latents(self, label: Tensor, generator: torch.Generator | None, dtype: torch.dtype) -> Tensor:
        return self.conditional.sample(self.space, self.vectors.to(dtype)[label], generator)

    def _draw(self, n: int, among: Tensor | None, m: int, even: bool, generator: torch.Generator | None) -> Tensor:
        """F⁻¹ of the labels' distribution at n random points, or at (k + u)/n for k < n: a systematic sample."""
        if even:
            order = torch.randperm(m, generator=generator)  # or the rows left over could all fall on one class
            points = (torch.arange(n) + torch.rand(1, generator=generator, dtype=torch.float64)) / n
        elif self.frequencies is None:
            return torch.randint(m, (n,), generator=generator)
        else:
            order, points = torch.arange(m), torch.rand(n, generator=generator, dtype=torch.float64)
        weights = (self.probabilities if among is None else self.probabilities[among])[order]
        bounds = (weights.cumsum(0) / weights.sum())[:-1].contiguous()
        return order[torch.searchsorted(bounds, points, right=True)]  # torch.multinomial stops at 2^24 labels

    @property
    def uniform_instances(self) -> bool:
        return _even(self.probabilities)

    @property
    def uniform_classes(self) -> bool:
        shares = torch.zeros(self.classes, dtype=torch.float64).index_add(0, self.class_of, self.probabilities)
        return _even(shares)

    @cached_property
    def affine_generators(self) -> bool:
        """Whether differences of cluster vectors span R^d, which takes at least d + 1 of them."""
        return diversity.rank(diversity.differences(self.vectors)) == self.dimension

    @cached_property
    def diverse_as_published(self) -> bool:
        """Whether [v∘v, v] has rank 2d: case C3 as the paper prints it, which is not enough."""
        return diversity.rank(diversity.published(self.vectors)) == 2 * self.dimension

    @cached_property
    def diverse(self) -> bool:
        """Whether [vech(vvᵀ), v] has rank d(d+3)/2: enough for C3 to promise a rotation."""
        return diversity.rank(diversity.corrected(self.vectors)) == diversity.needed(self.dimension)

    @property
    def failing(self) -> tuple[str, ...]:
        """The assumptions of the papers' theorems about the process itself that do not hold, in words."""
        d, enough = self.dimension, diversity.needed(self.dimension)
        ranks = [diversity.rank(f(self.vectors)) for f in (diversity.published, diversity.corrected)]
        statements = {
            "the cluster vectors are an affine generator system: their differences span R^d": self.affine_generators,
            f"the cluster vectors are diverse as published: [v∘v, v] has rank 2d = {2 * d} (it has {ranks[0]})": (
                self.diverse_as_published
            ),
            f"the cluster vectors are diverse: [vech(vvᵀ), v] has rank d(d+3)/2 = {enough} (it has {ranks[1]})": (
                self.diverse
            ),
            "instance labels are uniform": self.uniform_instances,
            "classes are uniform": self.uniform_classes,
            "no label is noise": self.label_noise == 0,
            "the mixing is injective": self.injectivity.holds is not False,
        }
        return tuple(statement for statement, holds in statements.items() if not holds)

    def __str__(self) -> str:
        n = f", {self.instances:,} instances" if self.instances else ""
        uneven = ", uneven classes" if self.frequencies else ""
        noise = f", {100 * self.label_noise:g} % label noise" if self.label_noise else ""
        return f"{self.space}: {self.clusters}{n}{uneven}{noise}, z|v ~ {self.conditional}, {self.mixing}"


def _even(shares: Tensor) -> bool:
    return float((shares / shares.mean() - 1).abs().max()) < 1e-9
