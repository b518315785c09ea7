"""Drawings in a page: vector figures that take the page's colours, light or dark, and show names as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import Any

from unmix.printable import printable

INK, SOFT, LINE, ACCENT, CHANCE, SECOND = "#1d2733", "#5b6875", "#d9dfe5", "#33608c", "#c44e52", "#c98a1b"
VARIABLES = {INK: "ink", SOFT: "soft", LINE: "line", ACCENT: "accent", CHANCE: "chance", SECOND: "second"}
HEAT = "YlGnBu"


@contextmanager
def drawing(width: float, height: float) -> Iterator[Any]:
    """A matplotlib figure in the page's colours; names are never read as formulas, whatever dollars they have."""
    import matplotlib  # slow to import
    from matplotlib.figure import Figure

    settings: Any = {
        "text.parse_math": False, "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif",
        "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": SOFT, "axes.titlesize": 9,
        "xtick.color": SOFT, "ytick.color": SOFT, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.facecolor": "none", "figure.facecolor": "none",
        "legend.frameon": False, "legend.fontsize": 8, "image.cmap": HEAT,
    }  # fmt: skip
    with matplotlib.rc_context(settings):
        yield Figure(figsize=(width, height), layout="constrained")


def svg(figure: Any, salt: str) -> str:
    """The figure as an SVG element whose colours are the page's; `salt` keeps its ids from meeting another's."""
    import matplotlib

    out = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, dpi=110, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[\w.]+_\d+">', "<g>", text)  # matplotlib numbers them anew in every figure
    for colour, name in VARIABLES.items():  # in styles only: a name may look like a colour
        text = re.sub(rf"((?:fill|stroke): ){colour}", rf"\1var(--{name})", text)
    return text.strip()


def png(figure: Any) -> bytes:
    """The figure as a PNG on white."""
    out = BytesIO()
    figure.savefig(out, format="png", dpi=150, facecolor="white")
    return out.getvalue()


def shortened(name: str, most: int = 24) -> str:
    """A name that leaves room for the figure, on one line."""
    name = " ".join(printable(name).split())
    return name if len(name) <= most else name[: most - 1] + "…"
