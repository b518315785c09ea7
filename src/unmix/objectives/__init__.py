"""What an encoder is trained on: pure formulas beside thin modules."""

from unmix.objectives.info_nce import InfoNCE, info_nce
from unmix.objectives.objective import Objective
from unmix.objectives.regression import Regression

__all__ = ["InfoNCE", "Objective", "Regression", "info_nce"]
