"""The generalised normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy.special
import torch
from torch import Tensor
from torch.distributions import constraints

from unmix.errors import require
from unmix.laws.additive import AdditiveLaw, require_scale

TINY = 1e-16


@dataclass(frozen=True)
class GeneralisedNormal(AdditiveLaw):
    """Independent coordinates with density ∝ exp(−(|z − c|/λ)^β), adapted to the space (see `AdditiveLaw`).

    β = 1 is Laplace(λ); β = 2 is Normal(λ/√2).

    Examples
    --------
    >>> from unmix.laws import Normal
    >>> from unmix.spaces import Euclidean
    >>> z, c = torch.tensor([[0.3]]), torch.zeros(1, 1)
    >>> a = GeneralisedNormal(2.0, math.sqrt(2)).log_prob(Euclidean(1), z, c)
    >>> bool(torch.isclose(a, Normal(1.0).log_prob(Euclidean(1), z, c)))
    True
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        require_scale(self)
        require(
            0 < self.shape < math.inf,
            f"a generalised normal law needs a positive, finite shape β, not {self.shape}.",
        )

    @property
    def power(self) -> float:
        return self.shape

    @property
    def spread(self) -> float:
        return self.scale

    def noise(self) -> torch.distributions.Distribution:
        return _Noise(self.shape, self.scale)

    def draw(self, shape: torch.Size, generator: torch.Generator | None, dtype: torch.dtype) -> Tensor:
        # |x/λ|^β ~ Gamma(1/β), which underflows in float32 for large β; U^β Gamma(1 + 1/β) has the same law.
        # torch.distributions.Gamma takes no generator, its sampler does.
        gamma = torch._standard_gamma(torch.full(shape, 1 + 1 / self.shape, dtype=dtype), generator=generator)
        signed = 2 * torch.rand(shape, generator=generator, dtype=dtype) - 1
        return self.scale * signed * gamma.pow(1 / self.shape)

    def __str__(self) -> str:
        return f"GenNorm({self.shape:g}; {self.scale:g})"


class _Noise(torch.distributions.Distribution):
    """The one-dimensional law around zero, with the quantile function that torch lacks."""

    support = constraints.real
    arg_constraints: dict[str, constraints.Constraint] = {}  # checked by the law  # noqa: RUF012

    def __init__(self, shape: float, scale: float) -> None:
        super().__init__(validate_args=False)
        self.shape, self.scale = shape, scale

    def log_prob(self, value: Tensor) -> Tensor:
        constant = math.log(self.shape) - math.log(2 * self.scale) - math.lgamma(1 / self.shape)
        return constant - (value.abs() / self.scale).pow(self.shape)

    # P(|x| ≤ q) is gammainc(1/β, (q/λ)^β); for large β the power underflows, where it is (q/λ)/Γ(1 + 1/β).

    def cdf(self, value: Tensor) -> Tensor:
        ratio = value.abs().double() / self.scale
        power = ratio.pow(self.shape)
        inside = torch.special.gammainc(torch.tensor(1 / self.shape, dtype=torch.float64), power)
        inside = torch.where(power < TINY, ratio / math.gamma(1 + 1 / self.shape), inside)
        return 0.5 + 0.5 * value.sign() * inside

    def icdf(self, value: Tensor) -> Tensor:
        u = 2 * value.double() - 1
        linear = u.abs() * math.gamma(1 + 1 / self.shape)
        power = torch.from_numpy(scipy.special.gammaincinv(1 / self.shape, u.abs().numpy()))
        ratio = torch.where(linear.pow(self.shape) < TINY, linear, power.pow(1 / self.shape))
        return self.scale * u.sign() * ratio
