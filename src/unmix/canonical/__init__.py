"""Models p(y|x) ∝ exp f(x)ᵀg(y): two of them side by side."""

from unmix.canonical.compare import ModelComparison, compare_models
from unmix.canonical.model import CanonicalModel

__all__ = ["CanonicalModel", "ModelComparison", "compare_models"]
