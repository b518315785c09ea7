"""`unmix docs`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from typer import Argument

from unmix.errors import require

PACKAGE = Path(__file__).parent.parent


def docs(page: Annotated[str | None, Argument(help="Such as auditing; left out, what there is.")] = None) -> None:
    """Show a page of the documentation, without a network."""
    found = pages()
    if page is None:
        table = Table(title="Pages", caption="unmix docs NAME", show_header=False)
        for name, path in found.items():
            table.add_row(name, title(path))
        Console(highlight=False).print(table)
        return
    require(page in found, f"there is no page {page!r}: choose from {', '.join(found)}.")
    text = found[page].read_text(encoding="utf-8")
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text)


def pages() -> dict[str, Path]:
    """The pages by name: in the package where it was installed, beside src/ in a checkout."""
    installed = PACKAGE / "docs"
    folder = installed if installed.is_dir() else PACKAGE.parents[1] / "docs"
    return {path.stem: path for path in sorted(folder.glob("*.md"))}


def title(path: Path) -> str:
    """The page's first heading."""
    with open(path, encoding="utf-8") as lines:
        return next(line.removeprefix("# ").strip() for line in lines if line.startswith("# "))
