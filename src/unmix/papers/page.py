"""A reproduction as a self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmix.papers.durations import duration, times
from unmix.papers.export import LOSS, MARKS, MEANINGS, THEORY, TICKS, footnotes, has_losses, losses, ticks
from unmix.report import Figure, Grid, Page, Spot, Text, rendered

if TYPE_CHECKING:
    from unmix.papers.cell import Cell
    from unmix.papers.exhibit import Row
    from unmix.papers.reproduction import Reproduction


def html(found: Reproduction) -> str:
    """The figure, the table, what failed, and the settings of every run."""
    exhibit = found.exhibit
    picture, caption = exhibit.picture(found)
    shown: list[Figure | Grid | Text] = [Figure(picture, caption), _table(found)]
    if exhibit.notes:
        shown.append(Text(exhibit.notes))
    if found.failures:
        shown.append(Text(("Failed runs:", *found.failures), tone="warning"))
    return rendered(
        Page(
            title=exhibit.title,
            lead=f"{exhibit.reference}. Published next to obtained with the recipe “{found.recipe}”.",
            sections=(("Published and obtained", tuple(shown)), ("Runs", (_runs(found),))),
            foot=(_made(found), "Made by unmix reproduce. Scores are held out, of rows that no run has seen."),
        )
    )


def _table(found: Reproduction) -> Grid:
    heads = ("#", *found.exhibit.heads, *TICKS, *(column.title for column in found.exhibit.columns))
    heads = (*heads, LOSS) if has_losses(found) else heads
    rows = tuple(
        (
            Spot(str(row.number)),
            *map(Spot, (*row.labels, *ticks(found, row))),
            *map(_spot, _cells(found, row)),
            *([Spot(losses(found, row) or "–")] if has_losses(found) else []),
        )
        for row in found.rows
    )
    meanings = MEANINGS if any(row.published for row in found.rows) else {}
    tones = tuple(Spot(f"{MARKS[mark]} {meaning}", tone=mark) for mark, meaning in meanings.items())
    caption = " ".join(["Mean ± standard deviation over seeds.", THEORY, *footnotes(found)])
    return Grid(caption, heads, rows, tones)


def _cells(found: Reproduction, row: Row) -> list[Cell]:
    return list(found.cells[row.number].values())


def _spot(cell: Cell) -> Spot:
    below = [f"published {cell.published}"] if cell.published else []
    if cell.runs:
        spent = f", {duration(cell.seconds)} each" if cell.seconds else ""
        below.append(f"{len(cell.reported)} seed{'s' * (len(cell.reported) > 1)}{spent}")
    if cell.ratio:
        below.append(f"official {duration(cell.official_seconds)}: {times(cell.ratio)}")
    mark = f"{MARKS[cell.mark]} " if cell.mark else ""
    return Spot(mark + str(cell), tuple(below), cell.mark or "")


def _runs(found: Reproduction) -> Grid:
    """Every run once: seed, scores, time and memory."""
    names = sorted({name for run in found.runs.values() for name in run.result["scores"]})
    rows = []
    for key, run in found.runs.items():
        places = [
            f"{number} {title}"
            for number, columns in found.cells.items()
            for title, cell in columns.items()
            if key in {r.key for r in cell.runs}
        ]
        scores = (Spot(f"{run.result['scores'][name]:.4f}" if name in run.result["scores"] else "–") for name in names)
        memory = run.result.get("memory_bytes")
        spent, steps = duration(run.result.get("seconds")), str(run.result.get("steps", "–"))
        held = f"{memory / 2**30:.2f} GB" if memory else "–"
        about = (Spot(key), Spot("; ".join(places)), Spot(str(run.seed)))
        rows.append((*about, *scores, Spot(spent), Spot(steps), Spot(held)))
    heads = ("run", "row and column", "seed", *names, "time", "steps", "memory")
    return Grid("Every run once; its settings are in the .json beside this page.", heads, tuple(rows))


def _made(found: Reproduction) -> str:
    made = sorted(run.result["when"] for run in found.runs.values())
    if not made:
        return "No run has finished."
    versions = [run.result["versions"] for run in found.runs.values()]
    used = [" and ".join(sorted({each[name] for each in versions})) for name in ("unmix", "torch")]
    span = made[0][:10] if made[0][:10] == made[-1][:10] else f"{made[0][:10]} to {made[-1][:10]}"
    return f"Run {span} with unmix {used[0]} and torch {used[1]}, one thread a run."
