"""A reproduction as text: for a terminal, a spreadsheet, a paper, a README."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from unmix.measures.digits import number
from unmix.papers.cell import DAGGER, LOSSES, NEAR, TUNED
from unmix.papers.durations import duration, times
from unmix.printable import escape
from unmix.sheets import booktabs, markdown_row, sheet, tex

if TYPE_CHECKING:
    from unmix.papers.cell import Cell
    from unmix.papers.exhibit import Row
    from unmix.papers.reproduction import Reproduction

MARKS = {"reached": "●", "near": "◐", "below": "○"}
MEANINGS = {
    "reached": "at or above the published mean",
    "near": f"within {NEAR} points below it",
    "below": "further below",
}
LOSS = "loss (floor; at the true inverse)"
LOSS_MEANING = (
    "Loss: of fresh, independent batches, in nats; in brackets the Bayes value, which no network is below, and the "
    "loss of the true inverse (–: not known). Clearly above the latter it is not optimised; clearly below, the "
    "latents are not its optimum; where all are near 0, hardly a draw is confused with others, and it tells little."
)
TUNING = f"{TUNED.strip()}: seed 0 alone, on which recipes were chosen; it is in no mean where there are other seeds."
OUTDATED = f"{DAGGER.strip()}: by settings that the recipe or the model had before, or by another version of unmix."
THEORY = (
    "“theory”: whether a theorem promises what the score tests, of the model as published; “as trained”: of the model "
    "that the recipe trains in its place (–: not known)."
)
TICKS = ("theory", "as trained")
WIDE = 5  # columns
COLOURS = {"reached": "green", "near": "yellow", "below": "red"}
COLOUR_NAMES = {"reached": "ForestGreen", "near": "Dandelion", "below": "BrickRed"}


def terminal(found: Reproduction) -> Table:
    """A row a setting; in each cell the obtained score, coloured, and the published one below it.

    Where there are more columns than a terminal is wide, they stand below each other in one.
    """
    table = Table(title=f"{found.exhibit.name}: {found.exhibit.title}", caption=legend(found), show_lines=True)
    many = len(found.exhibit.columns) > WIDE
    between = " " if many else "\n"
    titles = [column.title for column in found.exhibit.columns]
    for head in ("#", "setting", *TICKS, *(() if many else (*titles, "time"))):
        table.add_column(head)
    for head in ("score", "obtained (published)") if many else ():
        table.add_column(head, no_wrap=True)
    for row in found.rows:
        spots = [_terminal_cell(cell, between) for cell in found.cells[row.number].values()]
        spent, *official = _costs(found, row)
        time = spent + (f"{between}[dim]({', '.join(official)})[/]" if official else "")
        told = losses(found, row)
        time += f"\n[dim]loss {told}[/]" if told else ""
        shown = [escape("\n".join([*titles, "time"])), "\n".join([*spots, time])] if many else [*spots, time]
        table.add_row(str(row.number), escape(", ".join(row.labels)), *ticks(found, row), *shown)
    return table


def csv(found: Reproduction) -> str:
    """One line a row, column and seed."""
    heads = [
        "row", *found.exhibit.heads, "matches theory", "matches theory as trained", "column", "published mean",
        "published std", "seed", "obtained", "outdated", "seconds", "official seconds",
        *(f"loss {which}".replace("_", " ") for which in LOSSES), "failed",
    ]  # fmt: skip
    lines = []
    for row in found.rows:
        for cell in found.cells[row.number].values():
            matches = found.exhibit.matches_theory(row), found.as_trained.get(row.number, "")
            about = [row.number, *row.labels, *matches, cell.column.title]
            printed = (cell.published.mean, cell.published.std) if cell.published else (None, None)
            published = ["" if value is None else value for value in printed]
            for run, value in zip(cell.scored, cell.values, strict=True):
                spent = [run.result.get("seconds", ""), "" if cell.official_seconds is None else cell.official_seconds]
                found_losses = [(run.result.get("loss") or {}).get(which) for which in LOSSES]
                told = ["" if loss is None else loss["value"] for loss in found_losses]
                lines.append([*about, *published, run.seed, value, cell.outdated, *spent, *told, ""])
            for seed, why in cell.failures.items():
                lines.append([*about, *published, seed, "", "", "", "", *[""] * len(LOSSES), why])
    return sheet(heads, lines)


def latex(found: Reproduction) -> str:
    r"""A booktabs table (with amssymb, and xcolor's dvipsnames): obtained scores, coloured; published in brackets."""
    rows = []
    for row in found.rows:
        spots = [_tex_cell(cell) for cell in found.cells[row.number].values()]
        plain = [str(row.number), *row.labels, *ticks(found, row)]
        rows.append([*map(tex, plain), *spots, *map(tex, _last(found, row))])
    heads = _heads(found)
    return booktabs("l" * len(heads), [tex(head) for head in heads], rows)


def markdown(found: Reproduction) -> str:
    """A table for a README."""
    heads = _heads(found)
    lines = [markdown_row(heads), "|" + "---|" * len(heads)]
    for row in found.rows:
        spots = [plain_cell(cell) for cell in found.cells[row.number].values()]
        lines.append(markdown_row([str(row.number), *row.labels, *ticks(found, row), *spots, *_last(found, row)]))
    return "\n".join([*lines, "", legend(found), ""]).rstrip() + "\n"


def ticks(found: Reproduction, row: Row) -> tuple[str, str]:
    """Whether theory promises what is tested: of the model as published, and of the model that is trained."""
    known = {True: "✓", False: "✗", None: "–"}
    return known[found.exhibit.matches_theory(row)], known[found.as_trained.get(row.number)]


def _heads(found: Reproduction) -> list[str]:
    costs = ["time", "official", "ratio"] if has_official(found) else ["time"]
    costs = [*costs, LOSS] if has_losses(found) else costs
    return ["#", *found.exhibit.heads, *TICKS, *(c.title for c in found.exhibit.columns), *costs]


def has_official(found: Reproduction) -> bool:
    """Whether some column knows what the official code would cost."""
    return any(column.official for column in found.exhibit.columns)


def has_losses(found: Reproduction) -> bool:
    """Whether some row knows how low its loss is."""
    return any(losses(found, row) for row in found.rows)


def losses(found: Reproduction, row: Row) -> str:
    """The loss that was attained, the floor and the loss of the true inverse; empty where none is known."""
    attained, *others = (_costed(found, row).loss(which) for which in LOSSES)
    if attained is None:
        return ""
    return f"{number(attained)} ({'; '.join('–' if loss is None else number(loss) for loss in others)})"


def _costed(found: Reproduction, row: Row) -> Cell:
    """Of the column whose official cost is known, or else of the last one."""
    cells = list(found.cells[row.number].values())
    return next((cell for cell in cells if cell.column.official), cells[-1])


def _costs(found: Reproduction, row: Row) -> list[str]:
    cell = _costed(found, row)
    if not has_official(found):
        return [duration(cell.seconds)]
    return [duration(cell.seconds), duration(cell.official_seconds), times(cell.ratio)]


def _last(found: Reproduction, row: Row) -> list[str]:
    """What the last columns say: costs, and losses where some are known."""
    return [*_costs(found, row), *([losses(found, row) or "–"] if has_losses(found) else [])]


def legend(found: Reproduction) -> str:
    """What the marks mean; no word of published numbers where the paper printed none."""
    marks = "; ".join(f"{MARKS[mark]} {meaning}" for mark, meaning in MEANINGS.items()) + ". In brackets: published."
    told = [marks] if any(row.published for row in found.rows) else []
    return " ".join([*told, THEORY, *footnotes(found)])


def footnotes(found: Reproduction) -> list[str]:
    """What losses and marks of single cells mean, where there are some."""
    cells = [cell for columns in found.cells.values() for cell in columns.values()]
    seen = {LOSS_MEANING: has_losses(found), TUNING: any(c.only_tuning for c in cells), OUTDATED: found.outdated}
    return [text for text, there in seen.items() if there]


def plain_cell(cell: Cell) -> str:
    """Mark, obtained, and in brackets published."""
    mark = f"{MARKS[cell.mark]} " if cell.mark else ""
    return f"{mark}{cell}" + (f" ({cell.published})" if cell.published else "")


def _terminal_cell(cell: Cell, between: str) -> str:
    obtained = f"[{COLOURS[cell.mark]}]{MARKS[cell.mark]} {cell}[/]" if cell.mark else str(cell)
    return obtained + (f"{between}[dim]({cell.published})[/]" if cell.published else "")


def _tex_cell(cell: Cell) -> str:
    obtained = tex(str(cell))
    if cell.mark:
        obtained = rf"\textcolor{{{COLOUR_NAMES[cell.mark]}}}{{{obtained}}}"
    return obtained + (f" ({tex(str(cell.published))})" if cell.published else "")
