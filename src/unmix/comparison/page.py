"""A comparison as a self-contained HTML page."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from unmix.comparison.figure import heat_maps
from unmix.measures.digits import number
from unmix.measures.score import TWO_P, Refusal, Score
from unmix.measures.words import made_by
from unmix.report import Drawing, Grid, Page, Part, Spot, Text, rendered
from unmix.report.drawing import svg

if TYPE_CHECKING:
    from unmix.comparison.comparison import Comparison, Pair

HEADS = ("measure", "score", "95 % interval", "chance", "p", "calibrated", "above chance")
TWO = (
    "To see: how far each dot stands from its red mark, which is what chance alone gives. Measures further down see "
    "less of a linear map between the two: a score may be low only because the axes differ."
)
MANY = (
    "To see: which of the names agree, and by which measure. A pair that is dark by R² and CCA but light by MCC is the "
    "same up to a linear map, with other axes. In brackets: not above chance."
)


def html(found: Comparison) -> str:
    """The verdict, the figure, a table a pair, and what the measures assume."""
    figure = Drawing(svg(heat_maps(found), "comparison"), TWO if len(found.pairs) == 1 else MANY)
    sections: list[tuple[str, tuple[Part, ...]]] = [
        ("Verdict", (Text(tuple(found.verdict.splitlines())), figure)),
        *((f"{p.x} and {p.y}", _pair(p)) for p in found.pairs),
        ("What the measures assume", (_measures(found),)),
    ]
    count = f"{len(found.names)} representations of {found.pairs[0].rows:,} rows"
    lead = f"{count}. What is fitted is scored on held-out rows."
    return rendered(
        Page(
            "Comparison of representations",
            lead,
            tuple(sections),
            (made_by(found.settings), f"Made by unmix {version('unmix')}."),
        )
    )


def _pair(pair: Pair) -> tuple[Part, ...]:
    rows = tuple((Spot(s.measure.name), *_spots(s)) for s in pair.scores)
    caption = f"x = {pair.x} ({pair.widths[0]} columns), y = {pair.y} ({pair.widths[1]} columns)."
    if any(isinstance(s, Score) and s.p_beyond_place is not None for s in pair.scores):
        caption += f" {TWO_P[:1].upper()}{TWO_P[1:]}, which both tables follow."
    notes = (Text(tuple(f"Note: {n}." for n in pair.notes), tone="warning"),) if pair.notes else ()
    return (Text((pair.verdict,)), *notes, Grid(caption, HEADS, rows))


def _spots(score: Score | Refusal) -> tuple[Spot, ...]:
    if isinstance(score, Refusal):
        return (Spot("refused"), Spot(score.reason), *[Spot("–")] * 4)
    numbers = number(score.value), score.interval_shown, score.null_shown, score.p_shown, score.calibrated_shown
    above = Spot("yes", tone="reached") if score.above_chance else Spot("no", tone="below")
    above = Spot(f"yes, but {score.caveat}", tone="near") if score.above_chance and score.caveat else above
    above = Spot(score.caveat, tone="near") if score.p_value is None else above
    return (*map(Spot, numbers), above)


def _measures(found: Comparison) -> Grid:
    rows = tuple(
        (Spot(m.name), Spot(m.assumes), Spot(", ".join(sorted(c.value for c in m.invariant_x))), Spot(m.reference))
        for m in found.measures
    )
    return Grid("A number means what its measure can see.", ("measure", "assumes", "does not see, of x", "from"), rows)
