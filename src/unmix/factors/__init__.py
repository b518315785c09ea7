"""Known variables and their kinds: what an audit asks an embedding for."""

from unmix.factors.factor import Factor, Left
from unmix.factors.infer import inferred
from unmix.factors.kinds import Categorical, Continuous, Kind, Ordinal, Periodic
from unmix.factors.prepare import prepared

__all__ = ["Categorical", "Continuous", "Factor", "Kind", "Left", "Ordinal", "Periodic", "inferred", "prepared"]
