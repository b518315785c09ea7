"""What the scores of a pair say, in words."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.indeterminacy import AFFINE, Indeterminacy
from unmix.measures.regression import R2
from unmix.measures.score import Refusal, Score

SAME = 0.95
FORTH, BACK = R2(), R2(reverse=True)


def pair_verdict(x: str, y: str, scores: Sequence[Score | Refusal], minimal: Sequence[Indeterminacy]) -> str:
    """One sentence or two: the same up to what, one within the other, partly shared, or nothing above chance.

    "The same" is an R² of at least 0.95 both ways; "within" the same one way.
    """
    found = {s.measure: s for s in scores}
    forth, back = found.get(FORTH), found.get(BACK)
    if isinstance(forth, Score) and isinstance(back, Score):
        return _linear(x, y, forth, back, minimal)
    for one in (forth, back):
        if isinstance(one, Refusal):
            return f"No verdict on a linear relation of {x} and {y}: {one.reason}. {_others(scores)}".rstrip()
    return f"{x} and {y}: {_others(scores)}"


def _linear(x: str, y: str, forth: Score, back: Score, minimal: Sequence[Indeterminacy]) -> str:
    numbers = f"held-out R² {_span(forth)} for {y} from {x} and {_span(back)} for {x} from {y}"
    caveat = next((f", but {s.caveat}" for s in (forth, back) if s.caveat), "")
    if not any((s.above_chance or s.p_value is None) and s.value > 0 for s in (forth, back)):
        if forth.p_value is None:
            return f"No linear relation of {x} and {y} is shown: {numbers}{caveat}."
        return f"{x} and {y} have no linear relation above chance: {numbers}."
    numbers += caveat
    if min(forth.value, back.value) >= SAME:
        classes = " or ".join(str(c) for c in minimal or (AFFINE,))
        return f"{x} and {y} are the same up to a map of the class {classes}: {numbers}."
    if forth.value >= SAME:
        return f"{y} is a linear function of {x}, but {x} holds more: {numbers}."
    if back.value >= SAME:
        return f"{x} is a linear function of {y}, but {y} holds more: {numbers}."
    above = "" if forth.p_value is None else ", above chance"
    return f"{x} and {y} share a part linearly{above}, but are not the same: {numbers}."


def _others(scores: Sequence[Score | Refusal]) -> str:
    measured = [s for s in scores if isinstance(s, Score)]
    parts = []
    for words, chosen in (("above chance", True), ("not above chance", False)):
        some = [_short(s) for s in measured if s.above_chance == chosen and s.p_value is not None]
        parts += [f"{words}: {', '.join(some)}"] if some else []
    unjudged = [s for s in measured if s.p_value is None]
    if unjudged:
        parts += [f"{unjudged[0].caveat}, of {', '.join(f'{s.measure.name} {s.value:.2f}' for s in unjudged)}"]
    return f"{'; '.join(parts)}." if parts else "nothing could be measured."


def _short(score: Score) -> str:
    return f"{score.measure.name} {score.value:.2f}" + (f" ({score.caveat})" if score.caveat else "")


def _span(score: Score) -> str:
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def summary(verdicts: Sequence[str], scores: Sequence[Sequence[Score | Refusal]]) -> str:
    """All verdicts; of more than one pair, first the range of R²."""
    values = [s.value for some in scores for s in some if isinstance(s, Score) and s.measure in (FORTH, BACK)]
    if len(verdicts) == 1 or not values:
        return "\n".join(verdicts)
    return "\n".join([f"{len(verdicts)} pairs, R² from {min(values):.3f} to {max(values):.3f}.", *verdicts])
