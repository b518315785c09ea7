"""What the scores of a pair say, in words."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.measures.digits import number
from unmix.measures.ladder import COMPLETE, Extent, Ladder
from unmix.measures.regression import R2
from unmix.measures.score import Refusal, Score
from unmix.measures.words import classes_named

FORTH, BACK = R2(), R2(reverse=True)


def pair_verdict(x: str, y: str, scores: Sequence[Score | Refusal], ladder: Ladder | None) -> str:
    """Sentences that can be quoted: the same up to what, one within the other, a part shared, or nothing shown.

    "The same" is an R² of at least 0.95 both ways; "within" the same one way. A class of maps is named if it loses
    little in every direction of y (`unmix.measures.ladder`).
    """
    found = {s.measure: s for s in scores}
    forth, back = found.get(FORTH), found.get(BACK)
    if isinstance(forth, Score) and isinstance(back, Score):
        return _linear(x, y, forth, back, ladder)
    for one in (forth, back):
        if isinstance(one, Refusal):
            return f"No verdict on a linear relation of {x} and {y}: {one.reason}. {_others(scores)}".rstrip()
    return f"{x} and {y}: {_others(scores)}"


def _linear(x: str, y: str, forth: Score, back: Score, ladder: Ladder | None) -> str:
    numbers = f"held-out R² of {y} from {x} {forth}; of {x} from {y} {back}; {forth.rows_shown}"
    caveat = next((f" ({s.caveat})" for s in (forth, back) if s.caveat and s.p_value is not None), "")
    if not (forth.can_tell or back.can_tell):
        return f"No linear relation of {x} and {y} is shown with {forth.rows_shown}: {numbers}."
    if min(forth.value, back.value) >= COMPLETE:
        return f"{_same(x, y, ladder)}{caveat}: {numbers}."
    if forth.value >= COMPLETE:
        return f"{y} is a linear function of {x}, but {x} holds more{caveat}: {numbers}."
    if back.value >= COMPLETE:
        return f"{x} is a linear function of {y}, but {y} holds more{caveat}: {numbers}."
    return f"{_part(x, y, forth, back)}{caveat}: {numbers}."


def _same(x: str, y: str, ladder: Ladder | None) -> str:
    if ladder is not None and ladder.named:
        return f"{x} and {y} are the same up to a map of the class {classes_named(ladder)}"
    if ladder is not None and ladder.extent is Extent.IN_PART and ladder.weakest is not None:
        r2 = f"in one direction of {y} R² is only {number(ladder.weakest.r2)}"
        return f"{x} and {y} are nearly the same up to an affine map, but {r2}, so no class of maps is named"
    return f"{x} and {y} are the same up to an affine map"


def _part(x: str, y: str, forth: Score, back: Score) -> str:
    """Which way a part is linear, if that is more than hardly so."""
    ways = [s.can_tell and not s.hardly for s in (forth, back)]
    if all(ways):
        return f"{x} and {y} share a part linearly, but are not the same"
    if not any(ways):
        return f"{x} and {y} share hardly anything linearly"
    known, other = (y, x) if ways[0] else (x, y)
    return f"A part of {known} is a linear function of {other}, but hardly anything the other way round"


def _others(scores: Sequence[Score | Refusal]) -> str:
    """Every score that there is, by what chance says of it."""
    measured = [s for s in scores if isinstance(s, Score)]
    if not measured:
        return "nothing could be measured."
    kinds = (
        ("above chance", [s for s in measured if s.above_chance]),
        ("not above chance", [s for s in measured if not s.can_tell]),
        ("chance not judged", [s for s in measured if s.p_value is None]),
    )
    parts = [f"{words}: {'; '.join(f'{s.measure.name} {s}' for s in some)}" for words, some in kinds if some]
    return f"{'; '.join(parts)}; {measured[0].rows_shown}."


def summary(verdicts: Sequence[str], scores: Sequence[Sequence[Score | Refusal]]) -> str:
    """All verdicts; of more than one pair, first the range of R²."""
    values = [s.value for some in scores for s in some if isinstance(s, Score) and s.measure in (FORTH, BACK)]
    if len(verdicts) == 1 or not values:
        return "\n".join(verdicts)
    return "\n".join([f"{len(verdicts)} pairs, R² from {number(min(values))} to {number(max(values))}.", *verdicts])
