"""The loop, recipes, checkpoints, progress."""

from unmix.training import recipes
from unmix.training.fit import fit
from unmix.training.load import load
from unmix.training.recipe import Recipe
from unmix.training.result import Fit, Interrupted

__all__ = ["Fit", "Interrupted", "Recipe", "fit", "load", "recipes"]
