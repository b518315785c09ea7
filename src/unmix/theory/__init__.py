"""What theory promises beforehand: theorems as data."""

from unmix.theory import reizinger2025, roeder2021, zimmermann2021
from unmix.theory.guarantee import Guarantee, guarantee
from unmix.theory.roeder2021 import THEOREM_1
from unmix.theory.theorem import Assumption, HeadPromise, Theorem
from unmix.theory.zimmermann2021 import THEOREM_2, THEOREM_5, THEOREM_6

__all__ = [
    "THEOREM_1", "THEOREM_2", "THEOREM_5", "THEOREM_6", "Assumption", "Guarantee", "HeadPromise", "Theorem",
    "guarantee", "reizinger2025", "roeder2021", "zimmermann2021",
]  # fmt: skip
