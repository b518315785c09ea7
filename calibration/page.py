"""The tables of docs/calibration.md, made from results.json and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs.blocks import with_block

from calibration.cells import cells_of_coverage, cells_of_rates
from calibration.designs import GROUPS, PLACE, REFUSED, TIME, VALID, WARNED
from calibration.jobs import PROCESSES
from calibration.widths import Width
from unmix.files import read_json
from unmix.sheets import markdown_row

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "calibration" / "results.json", ROOT / "docs" / "calibration.md"
TABLES = (
    ("independent", VALID, ""),
    ("groups", VALID, GROUPS),
    ("place", PLACE, GROUPS),
    ("time", VALID, TIME),
    ("refused", REFUSED, TIME),
    ("warned", WARNED, ""),
)


def with_results(page: str) -> str:
    """The page with its numbers replaced."""
    results = read_json(RESULTS)
    rates, covered = cells_of_rates(results["rates"]), cells_of_coverage(results["coverage"])
    page = with_block(page, "measured", _measured(results))
    page = with_block(page, "outside", "\n".join(outside(results)) + "\n")
    for name, expects, told in TABLES:
        some = [(c.row, c.column, c.shown_in_table) for c in rates if (c.expects, c.told) == (expects, told)]
        page = with_block(page, name, _table("%", some))
    page = with_block(page, "coverage", _table("%", [(c.row, c.column, c.shown_in_table) for c in covered]))
    wide = [Width(**row) for row in results["widths"]]
    return with_block(page, "widths", _table("×", [(w.measure, w.design, w.shown) for w in wide]))


def outside(results: dict[str, Any]) -> list[str]:
    """What is not in its band, one line each, after a line that counts."""
    found = []
    for what, cells in (
        ("rates", cells_of_rates(results["rates"])),
        ("coverages", cells_of_coverage(results["coverage"])),
    ):
        judged = [cell for cell in cells if cell.judged]
        out = [cell for cell in judged if cell.side]
        found += [f"- {len(out)} of {len(judged)} {what} are outside their band{':' if out else '.'}"]
        found += [f"    - {cell.column}, {cell.row}: {cell.shown}, band {cell.band_shown}" for cell in out]
    return found


def _measured(results: dict[str, Any]) -> str:
    made = results["versions"]
    return (
        f"Measured {results['when'][:10]} with unmix {made['unmix']}, numpy {made['numpy']} and scipy {made['scipy']}: "
        f"{results['repetitions']:,} repetitions a design, seed {results['seed']}, "
        f"{results['seconds'] / 60 / PROCESSES:,.0f} minutes of {PROCESSES} processes.\n"
    )


def _table(unit: str, cells: Sequence[tuple[str, str, str]]) -> str:
    """From row, column and what is shown: a line for each measure and a column for each design."""
    rows, columns = (list(dict.fromkeys(cell[side] for cell in cells)) for side in (0, 1))
    at = {(row, column): shown for row, column, shown in cells}
    lines = [markdown_row([unit, *columns]), markdown_row(["---", *["--:"] * len(columns)])]
    lines += [markdown_row([row, *(at.get((row, column), "–") for column in columns)]) for row in rows]
    return "\n".join([*lines, ""])
