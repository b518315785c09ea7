"""A comparison as text: for a terminal, a spreadsheet, a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from unmix.measures.digits import number
from unmix.measures.score import FIELDS, TWO_P, Refusal, Score
from unmix.printable import escape
from unmix.sheets import booktabs, sheet, tex

if TYPE_CHECKING:
    from unmix.comparison.comparison import Comparison


def terminal(comparison: Comparison) -> Table:
    """A section a pair, a row a measure: the score, its interval, the score at chance, p, and the calibrated score."""
    two = any(isinstance(s, Score) and s.p_beyond_place is not None for p in comparison.pairs for s in p.scores)
    caption = "calibrated: 0 is chance, 1 the most there is" + (f"; {TWO_P}" if two else "")
    table = Table(title="Comparison of representations", caption=caption)
    table.add_column("measure")
    for title in ("score", "95 % interval", "chance", "p", "calibrated"):
        table.add_column(title, justify="right")
    for p in comparison.pairs:
        table.add_section()
        table.add_row(f"[bold]x = {escape(p.x)}, y = {escape(p.y)}[/]")
        for s in p.scores:
            table.add_row(s.measure.name, *_terminal_cells(s))
    return table


def plain(comparison: Comparison) -> str:
    """Lines of text."""
    lines = []
    for p in comparison.pairs:
        lines.append(f"x = {p.x} ({p.widths[0]} columns), y = {p.y} ({p.widths[1]} columns), {p.rows} rows")
        lines += [f"  {s.measure.name:24} {s}" for s in p.scores]
        lines += [f"  note: {note}" for note in p.notes]
    return "\n".join([*lines, comparison.verdict])


def csv(comparison: Comparison) -> str:
    """One line a pair and measure."""
    rows = ([p.x, p.y, s.measure.name, *cells(s)] for p in comparison.pairs for s in p.scores)
    return sheet(["x", "y", "measure", *FIELDS, "refused"], rows)


def cells(score: Score | Refusal) -> list[Any]:
    """The numbers of a score and why it was refused, for a line of a spreadsheet."""
    if isinstance(score, Refusal):
        return [*[""] * len(FIELDS), score.reason]
    return [*(getattr(score, field) for field in FIELDS), ""]


def latex(comparison: Comparison) -> str:
    """A booktabs table: a row a measure, a column a pair, scores with intervals; above chance in bold."""
    head = ["", *(tex(f"{p.x}, {p.y}") for p in comparison.pairs)]
    rows = (
        [tex(measure.name), *(_tex_cell(p.scores[i]) for p in comparison.pairs)]
        for i, measure in enumerate(comparison.measures)
    )
    return booktabs("l" + "r" * len(comparison.pairs), head, rows)


def _terminal_cells(score: Score | Refusal) -> list[str]:
    if isinstance(score, Refusal):
        return ["refused"]
    return [number(score.value), score.interval_shown, score.null_shown, score.p_shown, score.calibrated_shown]


def _tex_cell(score: Score | Refusal) -> str:
    if isinstance(score, Refusal):
        return "--"
    value = rf"\textbf{{{number(score.value)}}}" if score.above_chance else number(score.value)
    return f"{value} [{number(score.low)}, {number(score.high)}]"
