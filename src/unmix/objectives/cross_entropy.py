"""Cross-entropy over a bias-free linear head: supervised classification, and DIET."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from unmix.errors import require
from unmix.kernels import log_partition_sum
from unmix.objectives.info_nce import require_temperature

START = 0.01  # the length of the rows of a free head before training


def cross_entropy(
    outputs: Float[Tensor, "b d"],
    rows: Float[Tensor, "n d"],
    labels: Int64[Tensor, " b"],
    beta: float | Tensor = 1.0,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """−mean_i [(1 − ε) log p(y_i|x_i) + ε mean_k log p(k|x_i)], p(k|x) ∝ exp(β⟨w_k, f(x)⟩).

    ε is the label smoothing, 0 in the papers. Exact in value and gradient without ever holding B×N scores.

    Examples
    --------
    >>> f, w = torch.eye(2), torch.eye(2)
    >>> round(cross_entropy(f, w, torch.tensor([0, 1])).item(), 4)  # −log(e / (e + 1))
    0.3133
    """
    b, n = len(outputs), len(rows)
    require(
        labels.shape == (b,) and b > 0 and 0 <= int(labels.min()) <= int(labels.max()) < n,
        f"labels must be one a row, {b} of them and at least one, each from 0 to {n - 1}.",
    )
    require_smoothing(label_smoothing)
    if not isinstance(beta, Tensor):
        require(0 < beta < math.inf, f"β must be positive and finite, not {beta}.")
    f = beta * outputs
    own = torch.linalg.vecdot(f, rows[labels]).sum()
    if label_smoothing:
        own = (1 - label_smoothing) * own + label_smoothing * (f.sum(0) @ rows.mean(0))
    return (log_partition_sum(f, rows) - own) / b


def require_smoothing(share: float) -> None:
    require(0 <= share < 1, f"label smoothing is a share below 1, not {share}.")


@dataclass(frozen=True)
class CrossEntropy:
    """Supervised classification by class labels, p(c|x) ∝ exp(β⟨w_c, f(x)⟩) (Reizinger et al. 2025, Theorem 2).

    The encoder's output is free or on a sphere (`Model.output`), the head's rows are free or of unit length, in any
    combination. There is no bias.

    Parameters
    ----------
    unit_rows : whether each w is divided by its length, inside the graph.
    temperature : 1/β, or its initial value if `learn_temperature`.
    label_smoothing : the share of the target that is spread over all labels.

    Examples
    --------
    >>> CrossEntropy().told
    ('x', 'label')
    """

    unit_rows: bool = False
    temperature: float = 1.0
    learn_temperature: bool = False
    label_smoothing: float = 0.0
    told: ClassVar[tuple[str, ...]] = ("x", "label")

    def __post_init__(self) -> None:
        require_temperature(self.temperature)
        require_smoothing(self.label_smoothing)

    def check(self, process: Any, batch: int, outputs: int) -> None:
        self.labels(process)

    def labels(self, process: Any) -> int:
        """The number of rows of the head."""
        return count_of(process, "classes")

    def build(self, process: Any, outputs: int, generator: torch.Generator) -> nn.Module:
        return Head(self, self.labels(process), outputs, generator)

    def __str__(self) -> str:
        rows = "unit rows" if self.unit_rows else "free rows"
        learned = " (learned)" if self.learn_temperature else ""
        smoothed = f", label smoothing {self.label_smoothing:g}" if self.label_smoothing else ""
        return f"{self._name} with {rows}, β = {1 / self.temperature:g}{learned}{smoothed}"

    @property
    def _name(self) -> str:
        return "cross-entropy"


@dataclass(frozen=True)
class DIET(CrossEntropy):
    """Cross-entropy on instance labels, p(i|x) ∝ exp(β⟨w_i, f(x)⟩): classes are never told.

    Balestriero 2023, arXiv 2302.10260; cases C1 to C4 of Reizinger et al. 2025 are its four combinations of free or
    unit-length outputs and rows.

    Examples
    --------
    >>> print(DIET(unit_rows=True))
    DIET with unit rows, β = 1
    """

    told: ClassVar[tuple[str, ...]] = ("x", "instance")

    def labels(self, process: Any) -> int:
        return count_of(process, "labels")

    @property
    def _name(self) -> str:
        return "DIET"


def count_of(process: Any, what: str) -> int:
    """How many classes or instance labels a process has; any process may say so."""
    count = getattr(process, what, None)
    require(
        isinstance(count, int) and count >= 2,
        f"a {type(process).__name__} must say how many labels its head needs: give it a whole number `{what}`.",
    )
    return int(count)  # type: ignore[arg-type]


class Head(nn.Module):
    """Holds the rows and β; the formula is `cross_entropy`.

    Free rows start near zero, so that the first steps move each to the mean embedding of its label, wherever the
    encoder put it: rows that start at random places trap the clusters there when κ is large. Rows of unit length start
    in a random direction, but of the same small length, which lets them turn as quickly.

    `among` says which labels the rows are of while only some are trained (`recipes.EvenLabels`); None is all.
    """

    among: Tensor | None = None

    def __init__(self, objective: CrossEntropy, labels: int, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.objective = objective
        self.weight = nn.Parameter(torch.randn(labels, outputs, generator=generator) * (START / math.sqrt(outputs)))
        log_beta = torch.tensor(-math.log(objective.temperature))
        if objective.learn_temperature:
            self.log_beta = nn.Parameter(log_beta)
        else:
            self.register_buffer("log_beta", log_beta)

    @property
    def beta(self) -> Tensor:
        return self.log_beta.exp()

    def rows(self) -> Float[Tensor, "n d"]:
        """w as the softmax sees it."""
        return nn.functional.normalize(self.weight, dim=-1) if self.objective.unit_rows else self.weight

    def forward(self, encode: Callable[[Tensor], Tensor], x: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(encode(x), self.rows(), labels, self.beta, self.objective.label_smoothing)
