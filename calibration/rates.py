"""False positives: how often tables that share nothing are called related at the level of .05."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration.designs import Design
from calibration.measures import tried
from unmix.measures import LinearMeasure, RowMeasure
from unmix.measures.evaluate import chances
from unmix.measures.measure import Measure
from unmix.measures.score import Chance

LEVEL, PERMUTATIONS = 0.05, 39  # p is then 1/40, 2/40, …: at most .05 one time of twenty


@dataclass(frozen=True)
class Rate:
    """Of the repetitions, how often p was given and at most .05, and how often a note said that rows look sorted.

    Attributes
    ----------
    beyond_judged, beyond_positives : the same of p beyond the place in the group.
    """

    design: str
    told: str
    expects: str
    measure: str
    repetitions: int
    judged: int
    positives: int
    beyond_judged: int
    beyond_positives: int
    warned: int


def once(design: Design, repetition: int, measures: Sequence[Measure] = ()) -> dict[str, Any]:
    """p and p beyond the place of each measure on one pair of tables, and whether there was a warning."""
    paired = design.paired(repetition)
    measures = measures or tried(repetition)
    linear = [m for m in measures if isinstance(m, LinearMeasure)]
    found: dict[Measure, Chance] = dict(zip(linear, chances(paired, linear, PERMUTATIONS), strict=True))
    rows = paired.sample.exchangeable()
    for m in measures:
        if isinstance(m, RowMeasure):
            a = m.assess(rows, PERMUTATIONS)
            found[m] = Chance(a.null_score, a.null, a.null_rows, a.beyond_place, rows.unjudged())
    return {
        "p": {m.name: [chance.p_value, chance.p_beyond_place] for m, chance in found.items()},
        "warned": bool(paired.notes_on_neighbours()),
    }


def tallied(design: Design, found: Sequence[dict[str, Any]]) -> list[Rate]:
    """The rates of each measure, from what `once` gave."""
    names = list(dict.fromkeys(name for one in found for name in one["p"]))
    return [_rate(design, name, [one for one in found if name in one["p"]]) for name in names]


def _rate(design: Design, name: str, found: Sequence[dict[str, Any]]) -> Rate:
    p, beyond = ([one["p"][name][which] for one in found if one["p"][name][which] is not None] for which in (0, 1))
    return Rate(
        design.name,
        design.told,
        design.expects,
        name,
        repetitions=len(found),
        judged=len(p),
        positives=sum(value <= LEVEL for value in p),
        beyond_judged=len(beyond),
        beyond_positives=sum(value <= LEVEL for value in beyond),
        warned=sum(one["warned"] for one in found),
    )
