"""What theory promises beforehand: theorems as data."""

from unmix.theory import corollaries, reizinger2025, roeder2021, zimmermann2021
from unmix.theory.guarantee import Guarantee, guarantee
from unmix.theory.roeder2021 import THEOREM_1
from unmix.theory.theorem import Answer, Assumption, HeadPromise, Mark, Theorem
from unmix.theory.zimmermann2021 import THEOREM_2, THEOREM_5, THEOREM_6

__all__ = [
    "THEOREM_1", "THEOREM_2", "THEOREM_5", "THEOREM_6", "Answer", "Assumption", "Guarantee", "HeadPromise",
    "Mark", "Theorem", "corollaries", "guarantee", "reizinger2025", "roeder2021", "zimmermann2021",
]  # fmt: skip
