"""What the scores of a pair say, in words."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.measures.digits import number
from unmix.measures.ladder import COMPLETE, Extent, Ladder
from unmix.measures.regression import R2
from unmix.measures.score import MAY_BE_PLACE, Refusal, Score
from unmix.measures.words import capitalised, classes_named, monotone_named

FORTH, BACK = R2(), R2(reverse=True)


def pair_verdict(
    x: str,
    y: str,
    scores: Sequence[Score | Refusal],
    ladder: Ladder | None,
    back: Ladder | None = None,
    monotone: tuple[float | None, float | None] = (None, None),
) -> str:
    """Sentences that can be quoted: the same up to what, one within the other, a part shared, or nothing shown.

    "The same" is an R² of at least 0.95 both ways, in every direction of y and of x; "within" the same one way. A class
    of maps is named if it loses little in every direction of y (`unmix.measures.ladder`).

    Parameters
    ----------
    ladder, back, monotone : of y from x, and of x from y.
    """
    found = {s.measure: s for s in scores}
    forth, reverse = found.get(FORTH), found.get(BACK)
    if isinstance(forth, Score) and isinstance(reverse, Score):
        ranks = [
            monotone_named(r2, f"Each column of {a}", f"column of {b}")
            for r2, a, b in zip(monotone, (y, x), (x, y), strict=True)
        ]
        told = [_linear(x, y, forth, reverse, ladder, back), *ranks, _not_judged(y, ladder), _not_judged(x, back)]
        return " ".join(filter(None, told))
    for one in (forth, reverse):
        if isinstance(one, Refusal):
            why = f"No verdict on a linear relation of {x} and {y}: {one.reason}."
            return f"{why} {capitalised(_others(scores))}".rstrip()
    return f"{x} and {y}: {_others(scores)}"


def _linear(x: str, y: str, forth: Score, back: Score, of_y: Ladder | None, of_x: Ladder | None) -> str:
    numbers = f"held-out R² of {y} from {x} {forth}; of {x} from {y} {back}; {forth.rows_shown}"
    caveat = next((f" ({s.caveat})" for s in (forth, back) if s.caveat and s.p_value is not None), "")
    if not (forth.can_tell or back.can_tell):
        return f"No linear relation of {x} and {y} is shown with {forth.rows_shown}: {numbers}."
    if min(forth.value, back.value) >= COMPLETE:
        return f"{_same(x, y, of_y, of_x)}{caveat}: {numbers}."
    if forth.value >= COMPLETE:
        return f"{_within(y, x, of_y)}{caveat}: {numbers}."
    if back.value >= COMPLETE:
        return f"{_within(x, y, of_x)}{caveat}: {numbers}."
    return f"{_part(x, y, forth, back)}{caveat}: {numbers}."


def _same(x: str, y: str, of_y: Ladder | None, of_x: Ladder | None) -> str:
    for name, ladder in ((y, of_y), (x, of_x)):
        if missing := _missing(name, ladder):
            if of_y is not None and of_y.named:  # then it is x that has a direction more
                return f"{y} is a part of {x} up to a map of the class {classes_named(of_y)}: {missing}"
            return f"{x} and {y} are nearly the same up to an affine map, but {missing}, so no class of maps is named"
    if of_y is not None and of_y.named:
        return f"{x} and {y} are the same up to a map of the class {classes_named(of_y)}"
    return f"{x} and {y} are the same up to an affine map"


def _within(part: str, whole: str, ladder: Ladder | None) -> str:
    """That one is a linear function of the other, in every direction or nearly."""
    if missing := _missing(part, ladder):
        return f"{part} is nearly a linear function of {whole}, which holds more, but {missing}"
    return f"{part} is a linear function of {whole}, but {whole} holds more"


def _missing(name: str, ladder: Ladder | None) -> str:
    """That a direction is not there; empty where all are."""
    if ladder is None or ladder.extent is not Extent.IN_PART or ladder.weakest is None:
        return ""
    return f"in one direction of {name} R² is only {number(ladder.weakest.r2)}"


def _not_judged(y: str, ladder: Ladder | None) -> str:
    """A sentence on the directions of y that are left out of its ladder; empty where there are none."""
    count = 0 if ladder is None else len(ladder.unjudged)
    many = "direction" if count == 1 else "directions"
    return f"Not judged: {count} {many} of {y} in which its columns hardly vary apart." if count else ""


def _part(x: str, y: str, forth: Score, back: Score) -> str:
    """Which way a part is linear, if that is more than hardly so."""
    if forth.p_value is None and back.p_value is None:
        return f"Whether {x} and {y} share a part linearly cannot be told"
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
    above = [s for s in measured if s.above_chance]
    kinds = (
        ("above chance", [s for s in above if not s.hardly and not s.caveat]),
        (f"above chance, but {MAY_BE_PLACE}", [s for s in above if s.caveat and not s.hardly]),
        ("hardly above chance", [s for s in above if s.hardly]),
        ("not above chance", [s for s in measured if not s.above_chance and s.p_value is not None]),
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
