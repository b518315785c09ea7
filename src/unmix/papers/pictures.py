"""Published next to obtained, as a picture."""

from __future__ import annotations

from collections.abc import Callable
from math import log10, nan
from typing import TYPE_CHECKING, Any

from unmix.papers.export import ticks
from unmix.report.drawing import png

if TYPE_CHECKING:
    from unmix.papers.exhibit import Column
    from unmix.papers.reproduction import Reproduction

INK = {"reached": "#2f7d4f", "near": "#b8860b", "below": "#b03a2e", None: "#33608c"}
TICKS = (0, 50, 90, 99, 99.9, 99.99)
CAPTION = (
    "One row a setting, one panel a column. Diamonds are the published means with their standard deviations, dots the "
    "seeds that were run here: green where their mean is at or above it, yellow within 0.3 points, red below, blue "
    "where it is no goal. ✓ or ✗ after a setting: whether theory promises what is scored, first of the model as "
    "published, then of the model that is trained. Where scores are high the axis counts nines: 99 and 99.9 are as far "
    "apart as 90 and 99."
)


def dots(found: Reproduction) -> tuple[bytes, str]:
    """One panel a column: the published mean ± std and each seed's score, on an axis that counts nines."""
    from matplotlib.figure import Figure  # slow to import

    rows, columns = found.rows, _pictured(found)
    figure = Figure(figsize=(3.2 + 2.9 * len(columns), 1.3 + 0.42 * len(rows)), layout="constrained")
    axes = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for ax, column in zip(axes, columns, strict=True):
        cells = [found.cell(row.number, column.title) for row in rows]
        shown = [v for c in cells for v in (*c.values, *([c.published.mean] if c.published else []))]
        place = nines if max(shown, default=100) > 90 else float
        for y, cell in enumerate(cells):
            if cell.published:
                published = cell.published
                spread = published.std or 0.0
                ends = [place(published.mean - spread), place(published.mean + spread)]
                ax.plot(ends, [y - 0.16] * 2, color="#888888", linewidth=1.5)
                ax.plot([place(published.mean)], [y - 0.16], "D", color="#888888", markersize=5)
            ax.plot([place(v) for v in cell.values], [y + 0.12] * len(cell.values), "o", color=INK[cell.mark],
                    markersize=6, alpha=0.75, markeredgewidth=0)  # fmt: skip
        _axis(ax, column.title, min(shown, default=90), place)
    labels = [f"{row.number}   {', '.join(row.labels)}   {' '.join(ticks(found, row))}" for row in rows]
    axes[0].set_yticks(range(len(rows)), labels, fontsize=8)
    axes[0].set_ylim(len(rows) - 0.5, -0.6)
    figure.suptitle(f"{found.exhibit.name}: published (◆) and obtained (●)", fontsize=10)
    return png(figure), CAPTION


def _pictured(found: Reproduction) -> list[Column]:
    """The columns in percent that the paper prints, or all in percent where it prints none."""
    percent = [column for column in found.exhibit.columns if column.percent]
    printed = [c for c in percent if any(c.title in row.published for row in found.exhibit.rows)]
    return printed or percent


def grid(found: Reproduction) -> tuple[bytes, str]:
    """One heat map a column: the first label of a row says how high it stands, the second how far to the right."""
    from matplotlib.figure import Figure  # slow to import

    heads, columns = found.exhibit.heads, found.exhibit.columns
    ups, acrosses = (list(dict.fromkeys(row.labels[k] for row in found.exhibit.rows)) for k in (0, 1))
    width, height = (1.2 + 0.75 * len(acrosses)) * len(columns), 1.6 + 0.55 * len(ups)
    figure = Figure(figsize=(1.2 + width, height), layout="constrained")
    for ax, column in zip(figure.subplots(1, len(columns), squeeze=False)[0], columns, strict=True):
        means = [[nan] * len(acrosses) for _ in ups]
        for row in found.rows:
            cell = found.cell(row.number, column.title)
            i, j = ups.index(row.labels[0]), acrosses.index(row.labels[1])
            means[i][j] = nan if cell.mean is None else cell.mean
            if cell.mean is not None:
                ax.text(j, i, f"{cell.mean:.1f}", ha="center", va="center", fontsize=8,
                        color="white" if cell.mean < 60 else "black")  # fmt: skip
        ax.imshow(means, vmin=0, vmax=100, origin="lower", cmap="viridis", aspect="auto")
        ax.set_xticks(range(len(acrosses)), acrosses, fontsize=8)
        ax.set_yticks(range(len(ups)), ups, fontsize=8)
        ax.set(xlabel=heads[1], ylabel=heads[0])
        ax.set_title(column.title, fontsize=9)
    figure.suptitle(f"{found.exhibit.name}: held-out R² of z [%]", fontsize=10)
    return png(figure), f"Held-out R² of z in percent. {' '.join(_along(found, c.title) for c in columns)}"


def _along(found: Reproduction, title: str) -> str:
    """The highest and the lowest cell of a heat map, in words and as they were obtained."""
    cells = [c for row in found.rows if (c := found.cell(row.number, title)).mean is not None]
    if not cells:
        return f"{title}: nothing was run."
    heads = found.exhibit.heads
    ends = [pick(cells, key=lambda c: c.mean or 0.0) for pick in (max, min)]
    high, low = (
        f"{c.mean:.1f} at {', '.join(f'{h} {v}' for h, v in zip(heads, c.row.labels, strict=True))}" for c in ends
    )
    return f"{title}: from {high}, to {low}."


def nines(score: float) -> float:
    """The position of a score: −log10 of what it lacks, 100 being cut at 99.995."""
    return -log10(max(100 - score, 0.005))


def _axis(ax: Any, title: str, lowest: float, place: Callable[[float], float]) -> None:
    if place is nines:
        ticks = [t for t in TICKS if t >= max(u for u in TICKS if u <= max(min(lowest, 90), 0))]
        ax.set_xlim(nines(ticks[0]) - 0.15, nines(99.995) + 0.1)
    else:
        ticks = [0, 20, 40, 60, 80, 100]
        ax.set_xlim(0, 100)
    ax.set_xticks([place(t) for t in ticks], [f"{t:g}" for t in ticks], fontsize=8)
    ax.set_title(title, fontsize=9)
    ax.grid(axis="x", color="#e3e7eb", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
