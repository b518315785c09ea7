"""How latents become observations: every mixing can be undone and has a Jacobian."""

from unmix.mixings.identity import Identity
from unmix.mixings.layered import LayeredMap, Mixing
from unmix.mixings.linear import Linear
from unmix.mixings.mlp import MLP
from unmix.mixings.smooth import Smooth

__all__ = ["MLP", "Identity", "LayeredMap", "Linear", "Mixing", "Smooth"]
