"""The kind of a variable that nobody stated: a guess, which the report says."""

from __future__ import annotations

import re
from math import pi

import numpy as np

from unmix.factors.kinds import COMMA, Categorical, Continuous, Kind, Periodic, numbers_of
from unmix.tables import Column

FEW_VALUES, MOSTLY, TURN = 10, 0.5, 0.75
ANGLES = re.compile(
    r"(?<![a-z])(angle|orientation|rotation|heading|direction|azimuth|theta|phase|hue|yaw|longitude)", re.IGNORECASE
)
PERIODS = (2 * pi, 360.0)


def inferred(column: Column) -> Kind:
    """Words and up to ten whole numbers are classes; a turn of a column named like an angle is periodic; else a number.

    Examples
    --------
    >>> angle = Column.of("heading", np.linspace(0, 359, 100))
    >>> code = Column.of("code", angle.numbers % 3 // 1)
    >>> print(inferred(angle), inferred(Column.of("size", angle.numbers)), inferred(code), sep="; ")
    periodic, 360; continuous; categorical
    """
    there = column.present
    if column.codes is not None:
        share = 1 - len(column.wrong) / max(1, there.sum())
        commas = all(COMMA.fullmatch(level) or level.isdigit() for level in column.levels) and len(column.levels) > 1
        if MOSTLY < share < 1 or commas:
            numbers_of(column)  # says which value is none
        return Categorical()
    values = column.numbers[there]
    if len(values) == 0:
        return Continuous()
    levels = np.unique(values)
    if len(levels) <= FEW_VALUES and (levels == np.round(levels)).all():
        return Categorical()
    if ANGLES.search(column.name):
        for period in PERIODS:
            low, high = (0.0, period) if levels[0] >= 0 else (-period / 2, period / 2)
            within = low <= levels[0] and levels[-1] <= high * (1 + 1e-6)
            if within and np.ptp(levels) >= TURN * period:
                return Periodic(period)
    return Continuous()
