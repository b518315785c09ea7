"""Did it train? The loss of a fit next to the lowest that there can be, and to that of the true inverse."""

from unmix.optimality.optimality import Optimality, optimality

__all__ = ["Optimality", "optimality"]
