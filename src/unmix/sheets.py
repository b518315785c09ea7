"""Tables as text: for a spreadsheet, and for a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

LATEX = {
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "ρ": r"$\rho$", "²": r"$^2$", "→": r"$\to$",
    "±": r"$\pm$", "κ": r"$\kappa$", "β": r"$\beta$", "τ": r"$\tau$", "π": r"$\pi$",
    "✓": r"\checkmark{}", "✗": r"$\times$", "×": r"$\times$", "–": "--", "−": "$-$",
}  # fmt: skip


def sheet(head: list[str], rows: Iterable[list[Any]]) -> str:
    """Comma-separated lines of a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


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
    return "".join(LATEX.get(letter, letter) for letter in text.replace("z̃", r"z'"))
