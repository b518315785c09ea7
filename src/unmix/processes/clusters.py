"""The cluster vectors of a cluster-centric process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float64
from torch import Tensor

from unmix.errors import require, require_kind
from unmix.laws import Law, Uniform
from unmix.laws.door import require_inside
from unmix.spaces import Space


@runtime_checkable
class ClusterVectors(Protocol):
    """Where the classes sit; a frozen dataclass of plain values."""

    @property
    def count(self) -> int: ...

    def draw(self, space: Space, generator: torch.Generator) -> Float64[Tensor, "c d"]:
        """A vector of the space for each class."""
        ...


@dataclass(frozen=True)
class Clusters:
    """`count` independent draws of a law; one that is not uniform is centred at `space.origin`.

    Examples
    --------
    >>> from unmix.spaces import Sphere
    >>> Clusters(7).draw(Sphere(3), torch.Generator().manual_seed(0)).shape
    torch.Size([7, 3])
    """

    count: int
    law: Law = field(default_factory=Uniform)

    def __post_init__(self) -> None:
        whole = isinstance(self.count, int) and self.count >= 2
        require(whole, f"there must be at least 2 clusters, not {self.count!r}.")
        require_kind(self.law, Law, "law", "um.Uniform()")

    def draw(self, space: Space, generator: torch.Generator) -> Float64[Tensor, "c d"]:
        return self.law.sample(space, space.origin.double().expand(self.count, -1), generator)

    def __str__(self) -> str:
        return f"{self.count} clusters ~ {self.law}"


@dataclass(frozen=True)
class GivenClusters:
    """Cluster vectors of your own, one a class.

    Examples
    --------
    >>> GivenClusters(((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0))).count
    3
    """

    vectors: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        try:
            rows = tuple(tuple(float(value) for value in row) for row in self.vectors)
        except (TypeError, ValueError):
            rows = ()
        widths = {len(row) for row in rows}
        require(
            len(rows) >= 2 and len(widths) == 1 and bool(torch.tensor(rows).isfinite().all()),
            "cluster vectors are at least 2 rows of finite numbers, all of one length.",
        )
        object.__setattr__(self, "vectors", rows)

    @property
    def count(self) -> int:
        return len(self.vectors)

    def draw(self, space: Space, generator: torch.Generator) -> Float64[Tensor, "c d"]:
        vectors = torch.tensor(self.vectors, dtype=torch.float64)
        require_inside(space, vectors, "every cluster vector")
        return vectors

    def __str__(self) -> str:
        return f"{self.count} given clusters"


def frequencies_of(frequencies: Any, count: int) -> tuple[float, ...]:
    """Frequencies of so many classes, if they are."""
    try:
        found = tuple(float(f) for f in frequencies)
    except (TypeError, ValueError):
        found = ()
    fit = len(found) == count and all(0 < f < float("inf") for f in found)
    require(fit, f"frequencies are {count} positive numbers, one a class.")
    return found
