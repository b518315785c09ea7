"""What a kept result may name: the jobs of the house, and what they are made of."""

from __future__ import annotations

from unmix.papers.jobs import Classified, Trained, Untrained
from unmix.papers.reizinger2025.official import ClassifierStep
from unmix.papers.roeder2021.agreement import Agreement
from unmix.papers.zimmermann2021.official import OfficialStep
from unmix.training.descriptions import DESCRIPTIONS

JOBS: tuple[type, ...] = (Untrained, Trained, Classified, OfficialStep, ClassifierStep, Agreement)
KNOWN = (*DESCRIPTIONS, *JOBS)
