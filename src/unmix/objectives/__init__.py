"""What an encoder is trained on: pure formulas beside thin modules."""

from unmix.objectives.cross_entropy import DIET, CrossEntropy, cross_entropy
from unmix.objectives.info_nce import InfoNCE, info_nce
from unmix.objectives.objective import Objective
from unmix.objectives.regression import Regression

__all__ = ["DIET", "CrossEntropy", "InfoNCE", "Objective", "Regression", "cross_entropy", "info_nce"]
