"""Tables as text: for a spreadsheet, and for a paper."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

from unmix.printable import printable

LATEX = {
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "ρ": r"$\rho$", "²": r"$^2$", "→": r"$\to$",
    "±": r"$\pm$", "κ": r"$\kappa$", "β": r"$\beta$", "τ": r"$\tau$", "π": r"$\pi$",
    "✓": r"\checkmark{}", "✗": r"$\times$", "×": r"$\times$", "–": "--", "−": "$-$",
}  # fmt: skip


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # a spreadsheet runs what begins so

NUMBER = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)


def sheet(head: list[str], rows: Iterable[list[Any]]) -> str:
    """Comma-separated lines of a spreadsheet, which shows every text as text and runs none.

    Examples
    --------
    >>> sheet(["name", "score"], [["=cmd", -0.5]]).splitlines()[1]
    "'=cmd,-0.5"
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_shown(cell) for cell in row] for row in [head, *rows])
    return out.getvalue()


def _shown(cell: Any) -> Any:
    """An apostrophe before text that a spreadsheet would run as a formula; numbers are as they are."""
    if not isinstance(cell, str):
        return cell
    runs = cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return ("'" if runs else "") + cell.replace("\r", "\n")  # a lone return would end the line


def booktabs(columns: str, head: list[str], rows: Iterable[list[str]]) -> str:
    """A LaTeX table in the style of the package booktabs; cells are LaTeX already."""
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def tex(text: str) -> str:
    """Escaped, with the papers' own signs as LaTeX has them.

    Examples
    --------
    >>> print(tex("R² & 5 %"))
    R$^2$ \\& 5 \\%
    """
    seen = re.sub(r"\s", " ", printable(text)).replace("z̃", r"z'")
    return "".join(LATEX.get(letter, letter) for letter in seen)
