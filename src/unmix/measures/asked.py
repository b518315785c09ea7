"""What is asked for: measures, resamples and permutations, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.errors import require, require_kind
from unmix.measures.measure import LinearMeasure, Measure
from unmix.measures.score import SIGNIFICANT
from unmix.moments import CHUNKS


def check_measures(measures: Sequence[Measure]) -> None:
    """Refuse what is no measure, and a measure that is there twice."""
    require(
        isinstance(measures, (list, tuple)), f"measures must be a list, like [um.measures.CCA()], not {measures!r}."
    )
    require(len(measures) > 0, "there must be at least one measure, e.g. measures=[um.measures.CCA()].")
    for i, measure in enumerate(measures):
        require_kind(measure, Measure, "a measure", "um.measures.CCA()")
        before = [m.name for m in measures[:i]]
        require(measure.name not in before, f"the measure {measure.name} is there twice: leave one out.")


def check_counts(bootstraps: int, permutations: int) -> None:
    """Refuse fewer resamples than an interval or a p-value needs."""
    require(
        isinstance(permutations, int) and permutations >= 1 / SIGNIFICANT - 1,
        f"{permutations!r} permutations cannot show that a score is above chance: take 99 or more.",
    )
    require(
        isinstance(bootstraps, int) and bootstraps >= 40,
        f"{bootstraps!r} resamples cannot give a 95 % interval: take 40 or more.",
    )


def work(measures: Sequence[Measure], bootstraps: int, permutations: int) -> int:
    """The most times that `evaluate` advances: a measure that is not resampled, or is refused, saves some."""
    linear = [m for m in measures if isinstance(m, LinearMeasure)]
    drawn = bootstraps * any(m.jumps for m in linear)
    return (CHUNKS + drawn + permutations if linear else 0) + len(measures) - len(linear)
