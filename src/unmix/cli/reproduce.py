"""`unmix reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.table import Table
from typer import Argument, Option

from unmix.errors import require
from unmix.papers import catalogue
from unmix.papers import reproduce as reproduce_exhibit
from unmix.papers.export import terminal
from unmix.papers.reproduce import FOLDER
from unmix.papers.reproduction import FORMATS
from unmix.printable import escape


def reproduce(
    exhibit: Annotated[str | None, Argument(help="Such as zimmermann2021/table1; left out, what there is.")] = None,
    rows: Annotated[str | None, Option(help="Such as 1,3,5-8. [all]")] = None,
    seeds: Annotated[str, Option(help="Which, such as 1 or 1,2,3 or 5-9; on 0 recipes were chosen.")] = "1-3",
    recipe: Annotated[str, Option(help="fast; or paper, the published setting: minutes to weeks a run.")] = "fast",
    workers: Annotated[int | None, Option(help="Runs at a time, one thread each. [as many as cores]")] = None,
    out: Annotated[Path, Option(help="Keeps every run. The same command again goes on where it was.")] = Path(FOLDER),
) -> None:
    """Run a table or figure of a paper again, published next to obtained.

    `unmix reproduce zimmermann2021/table1 --rows 2 --seeds 1` trains one row once. A finished run is never repeated,
    a stopped one goes on, and rows of different tables that are the same run share it.
    """
    console = Console(highlight=False)
    if exhibit is None:
        console.print(_listed())
        return
    chosen = None if rows is None else numbers(rows, "--rows")
    which = numbers(seeds, "--seeds")
    try:
        found = reproduce_exhibit(exhibit, rows=chosen, seeds=which, recipe=recipe, workers=workers, folder=out)
    except KeyboardInterrupt:
        Console(stderr=True, highlight=False).print("stopped; the same command again goes on from here.")
        sys.exit(130)
    console.print(terminal(found))
    for note in found.exhibit.notes:
        console.print(escape(note), style="dim")
    for failure in found.failures:
        console.print(f"[red]failed[/]  {escape(failure)}", soft_wrap=True)
    target = out / found.exhibit.name
    console.print(f"\n[bold]Kept[/]  {escape(str(target))}{', '.join(FORMATS)}", soft_wrap=True)
    if found.failures:
        sys.exit(1)


def numbers(text: str, option: str) -> list[int]:
    """Whole numbers and ranges with commas between them.

    Examples
    --------
    >>> numbers("1,3,5-8", "--rows")
    [1, 3, 5, 6, 7, 8]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = first, last if dash else first
        fits = all(end.isdecimal() for end in ends) and int(ends[0]) <= int(ends[1])
        require(fits, f"{option} takes whole numbers and ranges such as 1,3,5-8, not {text!r}.")
        found += range(int(ends[0]), int(ends[1]) + 1)
    return found


def _listed() -> Table:
    table = Table(title="What can be reproduced", caption="unmix reproduce NAME")
    for head in ("name", "what", "rows"):
        table.add_column(head)
    for name, exhibit in catalogue().items():
        table.add_row(name, f"{escape(exhibit.title)}\n[dim]{escape(exhibit.reference)}[/]", str(len(exhibit.rows)))
    return table
