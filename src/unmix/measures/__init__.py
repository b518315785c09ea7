"""What is measured: recovery of known latents, and the likeness of two representations."""

from unmix.measures.cca import CCA, PWCCA, SVCCA
from unmix.measures.cka import CKA
from unmix.measures.geometry import RSA, DistanceCorrelation, KernelCKA
from unmix.measures.ica import ICA
from unmix.measures.invariance import Change
from unmix.measures.matching import MCC
from unmix.measures.measure import LinearMeasure, Measure, RowMeasure
from unmix.measures.neighbours import Neighbours
from unmix.measures.procrustes import Procrustes
from unmix.measures.recovered import Recovery
from unmix.measures.recovery import recovery
from unmix.measures.regression import R2, UpTo
from unmix.measures.score import Refusal, Score
from unmix.measures.truth import mcc

__all__ = [
    "CCA",
    "CKA",
    "ICA",
    "MCC",
    "PWCCA",
    "R2",
    "RSA",
    "SVCCA",
    "Change",
    "DistanceCorrelation",
    "KernelCKA",
    "LinearMeasure",
    "Measure",
    "Neighbours",
    "Procrustes",
    "Recovery",
    "Refusal",
    "RowMeasure",
    "Score",
    "UpTo",
    "mcc",
    "recovery",
]
