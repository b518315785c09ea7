"""InfoNCE."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.errors import require, require_kind
from unmix.kernels import contrastive_sum
from unmix.objectives.widened import widened_sum
from unmix.similarities import Dot, Similarity


def info_nce(
    similarity: Similarity,
    anchors: Float[Tensor, "b d"],
    positives: Float[Tensor, "b d"],
    temperature: float | Tensor = 1.0,
    group_size: int | None = None,
    two_sided: bool = False,
    widen: bool = False,
    own_widths: bool = False,
) -> Float[Tensor, ""]:
    """−mean_i log( e^{s(a_i, p_i)/τ} / (e^{s(a_i, p_i)/τ} + Σ_{j≠i} e^{s(a_i, a_j)/τ}) ).

    The negatives of an anchor are the *other anchors*, of the whole batch or of its group of
    `group_size` rows: draws from the marginal, as the theorems ask, and never the anchor itself
    (Zimmermann et al. 2021, equation 1; their code counts the anchor too). In the limit of many
    negatives this is the cross-entropy of p(z̃|z) and the model's q(z̃|z), less a constant.
    `two_sided` adds the same with positives and anchors exchanged, and halves. `widen` puts `widened_sum` in the place
    of the sum over negatives, with `own_widths` or one for all.

    Examples
    --------
    >>> a = torch.eye(3)
    >>> round(info_nce(Dot(), a, a).item(), 4)  # −log(e / (e + 2))
    0.5514
    """
    require(
        anchors.ndim == 2 and anchors.shape == positives.shape,
        f"anchors and positives must be tables of one shape, not {tuple(anchors.shape)} and {tuple(positives.shape)}.",
    )
    if not isinstance(temperature, Tensor):
        require_temperature(temperature)
    require_groups(len(anchors), group_size)
    require_distance(similarity, widen)
    scale = temperature ** (-1 / similarity.degree)  # s is homogeneous: s(ca, cb) = s(a, b)/τ
    a, b = anchors * scale, positives * scale
    positive = similarity.rows(a, b)

    def side(rows: Tensor) -> Tensor:
        if widen:
            return widened_sum(similarity, rows, positive, group_size, own_widths)
        return contrastive_sum(similarity, rows, rows, positive, group_size)

    total = (side(a) + side(b)) / 2 if two_sided else side(a)
    return total / len(a)


def require_groups(rows: int, group_size: int | None) -> None:
    """Refuse a batch without negatives, or one that does not divide into groups."""
    size = rows if group_size is None else group_size
    require(size >= 2, f"InfoNCE needs at least 2 rows a group to have a negative, not {size}.")
    require(rows % size == 0, f"a batch of {rows} does not divide into groups of {size}: make it a multiple of {size}.")


def require_distance(similarity: Similarity, widen: bool) -> None:
    """Refuse to widen what is not the negative of a distance."""
    none = widen and isinstance(similarity, Dot)
    require(not none, "a dot product is no distance, so its negatives have no width: widen an Lp similarity.")


def require_widened(described: Any) -> None:
    """Refuse widths of negatives that nothing widens, in an objective or a recipe."""
    require(described.widen or not described.own_widths, "own_widths says how negatives widen: give widen=True too.")


def require_temperature(temperature: float) -> None:
    require(0 < temperature < math.inf, f"the temperature must be positive and finite, not {temperature}.")


@dataclass(frozen=True)
class InfoNCE:
    """The objective of contrastive learning (Zimmermann et al. 2021, equation 1); see `info_nce`.

    Parameters
    ----------
    temperature : τ, or its initial value if `learn_temperature`.
    group_size : negatives come from groups of this many rows instead of the whole batch.
    widen : negatives are seen through a kernel as wide as they are far (`widened_sum`); for distances, not for `Dot`.
    own_widths : widened for each anchor on its own, where the embedding has tails; if not, by one width for the batch.

    Examples
    --------
    >>> print(InfoNCE(Dot(), temperature=0.1))
    InfoNCE with dot product, τ = 0.1
    """

    similarity: Similarity = field(default_factory=Dot)
    temperature: float = 1.0
    learn_temperature: bool = False
    two_sided: bool = False
    group_size: int | None = None
    widen: bool = False
    own_widths: bool = False
    told: ClassVar[tuple[str, ...]] = ("x", "x_view")

    def __post_init__(self) -> None:
        require_kind(self.similarity, Similarity, "similarity", "um.Dot() or um.Lp(1)")
        require(
            self.similarity.degree > 0,
            f"{self.similarity} must be homogeneous of a degree above 0, not {self.similarity.degree}, "
            "for the temperature to scale it.",
        )
        require_temperature(self.temperature)
        require(
            self.group_size is None or self.group_size >= 2,
            f"a group of negatives needs at least 2 rows, not {self.group_size}.",
        )
        require_distance(self.similarity, self.widen)
        require_widened(self)

    def check(self, process: Any, batch: int, outputs: int) -> None:
        require_groups(batch, self.group_size)

    def build(self, process: Any, outputs: int, generator: torch.Generator) -> nn.Module:
        return _InfoNCELoss(self)

    def __str__(self) -> str:
        learned = " (learned)" if self.learn_temperature else ""
        widened = (", negatives widened" + " for each anchor" * self.own_widths) * self.widen
        return f"InfoNCE with {self.similarity}, τ = {self.temperature:g}{learned}{widened}"


class _InfoNCELoss(nn.Module):
    """Holds the temperature; the formula is `info_nce`."""

    def __init__(self, objective: InfoNCE) -> None:
        super().__init__()
        self.objective = objective
        log_temperature = torch.tensor(math.log(objective.temperature))
        if objective.learn_temperature:
            self.log_temperature = nn.Parameter(log_temperature)
        else:
            self.register_buffer("log_temperature", log_temperature)

    def forward(self, encode: Callable[[Tensor], Tensor], x: Tensor, x_view: Tensor) -> Tensor:
        o = self.objective
        anchors, positives = encode(torch.cat([x, x_view])).split(len(x))
        temperature = self.log_temperature.exp()
        return info_nce(o.similarity, anchors, positives, temperature, o.group_size, o.two_sided, o.widen, o.own_widths)
