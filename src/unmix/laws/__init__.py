"""How latents are drawn: each law serves as a marginal and as a conditional around a centre."""

from unmix.laws.additive import AdditiveLaw
from unmix.laws.generalised_normal import GeneralisedNormal
from unmix.laws.laplace import Laplace
from unmix.laws.law import Law
from unmix.laws.normal import Normal
from unmix.laws.truncated import Truncated
from unmix.laws.uniform import Uniform
from unmix.laws.von_mises_fisher import VonMisesFisher

__all__ = ["AdditiveLaw", "GeneralisedNormal", "Laplace", "Law", "Normal", "Truncated", "Uniform", "VonMisesFisher"]
