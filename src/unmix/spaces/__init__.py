"""Where latents live."""

from unmix.spaces.box import Box
from unmix.spaces.euclidean import Euclidean
from unmix.spaces.sphere import Sphere

Space = Sphere | Box | Euclidean

__all__ = ["Box", "Euclidean", "Space", "Sphere"]
