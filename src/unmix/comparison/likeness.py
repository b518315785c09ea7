"""Which layer of another model a layer is most like, in words."""

from __future__ import annotations

from collections.abc import Mapping

from unmix.measures.score import Refusal, Score


def most_like(scores: Mapping[str, Score | Refusal]) -> str | None:
    """Of the layers that are above chance, the one with the highest score; None where none is."""
    above = {name: s.value for name, s in scores.items() if isinstance(s, Score) and s.above_chance}
    return max(above, key=above.__getitem__, default=None)


def likeness(layer: str, scores: Mapping[str, Score | Refusal]) -> str:
    """Sentences that can be quoted: which layer it is most like, that it is hardly so, or that nothing is shown.

    A layer above chance goes before one that is not, or not judged; if the score of that one is higher, it is told.

    Parameters
    ----------
    scores : of the layer with each layer of the other model, by name.
    """
    measured = {name: s for name, s in scores.items() if isinstance(s, Score)}
    if not measured:
        reasons = dict.fromkeys(s.reason for s in scores.values() if isinstance(s, Refusal))
        return f"Nothing could be measured of {layer}: {'; '.join(reasons)}."

    def highest(some: Mapping[str, Score]) -> str:
        return max(some, key=lambda name: some[name].value)

    top, told = highest(measured), {name: s for name, s in measured.items() if s.can_tell}
    best = most_like(scores) or highest(told or measured)
    found, alone = measured[best], len(measured) == 1
    number = f"{found.measure.name} {found}"
    if not told:
        others = best if alone else f"any of {len(measured)} layers"
        which = number if alone else f"highest with {best}, {number}"
        return f"No likeness of {layer} to {others} is shown with {found.rows_shown}: {which}."
    if found.hardly:
        said = f"is hardly like {best}" if alone else f"is hardly like any layer, most like {best}"
    else:
        said = f"{'is' if found.above_chance else 'looks'} {'like' if alone else 'most like'} {best}"
    caveat = f" ({found.caveat})" if found.above_chance and found.caveat else ""
    more = f" It is higher with {top}: {measured[top]}." if measured[top].value > found.value else ""
    return f"{layer} {said}{caveat}: {number}; {found.rows_shown}.{more}"
