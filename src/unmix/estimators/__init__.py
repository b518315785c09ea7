"""scikit-learn estimators: the same objectives on rows of one's own."""

from unmix.estimators.base import EncoderEstimator
from unmix.estimators.contrastive import ContrastiveEncoder
from unmix.estimators.cross_entropy import CrossEntropyEncoder
from unmix.estimators.diet import DIETEncoder
from unmix.estimators.store import load
from unmix.estimators.views import Jitter, View

__all__ = ["ContrastiveEncoder", "CrossEntropyEncoder", "DIETEncoder", "EncoderEstimator", "Jitter", "View", "load"]
