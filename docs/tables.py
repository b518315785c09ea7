"""Published and obtained in README.md and docs/reproducing.md, made from results/ and from nothing else.

`python docs/tables.py` rebuilds the tables and figures; with a folder that `unmix reproduce` wrote, it first takes the
outcomes from there.
"""

import re
import shutil
import sys
from pathlib import Path

from unmix.papers import Reproduction, read
from unmix.papers.durations import duration, times
from unmix.papers.export import MARKS, MEANINGS, markdown, plain_cell, tick
from unmix.papers.pictures import grid
from unmix.sheets import markdown_row

ROOT = Path(__file__).parent.parent
RESULTS, README, PAGE = ROOT / "results", ROOT / "README.md", ROOT / "docs" / "reproducing.md"
SHOWN = {  # in README, which columns of which tables
    "zimmermann2021/table1": ("unsupervised",),
    "zimmermann2021/table2": ("unsupervised",),
    "reizinger2025/table2": ("R²o z", "R²o w", "R²a z", "R²a w"),
    "reizinger2025/table3": ("R² z",),
}


def kept() -> list[Reproduction]:
    """Every outcome that is kept, tables before figures."""
    return [read(path) for path in sorted(RESULTS.glob("*/*.json"), key=lambda p: ("table" not in p.stem, p))]


def short(found: Reproduction, titles: tuple[str, ...]) -> str:
    """The columns that README shows; time and ratio are of the first."""
    heads = ["#", *found.exhibit.heads, "theory", *titles, "time", "faster than official"]
    lines = [markdown_row(heads), "|" + "---|" * len(heads)]
    for row in found.rows:
        cells = [found.cell(row.number, title) for title in titles]
        spent = duration(cells[0].seconds), times(cells[0].ratio)
        lines.append(markdown_row([str(row.number), *row.labels, tick(found, row), *map(plain_cell, cells), *spent]))
    return "\n".join(lines)


def made(found: Reproduction) -> str:
    """When and with what, and how many seeds."""
    when = max(run.result["when"] for run in found.runs.values())[:10]
    torch = " and ".join(sorted({run.result["versions"]["torch"] for run in found.runs.values()}))
    counts = sorted({len(cell.runs) for cells in found.cells.values() for cell in cells.values()})
    seeds = " or ".join(map(str, counts)) + (" seed" if counts == [1] else " seeds")
    written = f"written by `unmix reproduce {found.exhibit.name}` on {when} with torch {torch}"
    return f"{seeds} a row, one thread a run; {written}."


def readme_block() -> str:
    tables = {found.exhibit.name: found for found in kept()}
    legend = "; ".join(f"{MARKS[mark]} {meaning}" for mark, meaning in MEANINGS.items())
    parts = [
        f"**{name}**: {tables[name].exhibit.title}\n\n{short(tables[name], titles)}\n\n{made(tables[name])}"
        for name, titles in SHOWN.items()
        if name in tables
    ]
    told = "In brackets: published. Without a mark, the number is no goal: theory expects it to be low."
    return "\n\n".join([*parts, f"{legend}. {told}"]) + "\n"


def page_block() -> str:
    parts = []
    for found in kept():
        name = found.exhibit.name
        figure = f"![{name}]({picture(found).name})\n\n*{found.exhibit.picture(found)[1]}*"
        table = [] if found.exhibit.picture is grid else [markdown(found).strip()]  # a heat map shows its numbers
        parts.append(
            "\n\n".join([f"## {name}: {found.exhibit.title}", figure, *table, made(found), *found.exhibit.notes])
        )
    return "\n\n".join(parts).strip() + "\n"


def picture(found: Reproduction) -> Path:
    return PAGE.with_name(found.exhibit.name.replace("/", "-") + ".png")


def with_block(text: str, name: str, block: str) -> str:
    """The text with what stands between two marks replaced."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    made, count = pattern.subn(lambda m: m[1] + block + m[2], text)
    assert count == 1, f"there must be one block {name}, not {count}"
    return made


def main() -> None:
    for path in Path(sys.argv[1]).glob("*/*.json") if len(sys.argv) > 1 else ():
        (RESULTS / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, RESULTS / path.parent.name / path.name)
    README.write_text(with_block(README.read_text(), "reproduced", readme_block()))
    PAGE.write_text(with_block(PAGE.read_text(), "reproduced", page_block()))
    for found in kept():
        found.save(picture(found))


if __name__ == "__main__":
    main()
