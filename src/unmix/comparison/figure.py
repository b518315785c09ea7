"""Heat maps of a comparison."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64
from matplotlib.figure import Figure
from numpy import ndarray

from unmix.measures.score import SIGNIFICANT, Score

if TYPE_CHECKING:
    from unmix.comparison.comparison import Comparison
    from unmix.comparison.layers import LayerComparison

COLOURS = "YlGnBu"


def heat_maps(comparison: Comparison) -> bytes:
    """A PNG: of two representations, one map of measures; of more, one map a measure, names by names."""
    if len(comparison.pairs) == 1:
        return _bars(comparison)
    size = len(comparison.names)
    shown = [m for i, m in enumerate(comparison.measures) if m.mirrored not in comparison.measures[:i]]
    across = min(len(shown), min((4, 3), key=lambda a: -len(shown) % a))  # as few empty places as can be
    down = -(-len(shown) // across)
    side = 0.62 * size + 1.5
    figure = Figure(figsize=(across * side, down * side + 0.5), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for ax, measure in zip(axes, shown, strict=False):
        chance = comparison.matrix(measure, "p_value") > SIGNIFICANT
        _map(ax, comparison.matrix(measure), comparison.names, comparison.names, chance)
        ax.set_title(measure.name, fontsize=10)
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    figure.suptitle("Scores of pairs (row x, column y). In brackets: not above chance.", fontsize=9)
    return _png(figure)


def layer_map(layers: LayerComparison) -> bytes:
    """A PNG of layers of one model against layers of the other."""
    rows, columns = layers.values.shape
    figure = Figure(figsize=(0.62 * columns + 2, 0.62 * rows + 1.6), layout="constrained")
    ax = figure.subplots()
    _map(ax, layers.values, layers.x, layers.y, ~layers.above_chance)
    ax.set_title(f"{layers.measure.name}. In brackets: not above chance.", fontsize=10)
    ax.set(xlabel="second model", ylabel="first model")
    return _png(figure)


def _bars(comparison: Comparison) -> bytes:
    pair = comparison.pairs[0]
    scores = [s for s in pair.scores if isinstance(s, Score)]
    figure = Figure(figsize=(7, 0.42 * len(scores) + 1.5), layout="constrained")
    ax = figure.subplots()
    for i, s in enumerate(scores):
        ax.plot([s.low, s.high], [i, i], color="#33608c", linewidth=6, solid_capstyle="butt", alpha=0.45)
        ax.plot([s.value], [i], "o", color="#33608c", markersize=6, label="score, 95 % interval" if i == 0 else None)
        ax.plot([s.null], [i], "|", color="#c44e52", markersize=16, markeredgewidth=2.5,
                label="chance" if i == 0 else None)  # fmt: skip
        ax.annotate(f"{s.value:.3f}", (1.0, i), xycoords=("axes fraction", "data"), xytext=(6, 0),
                    textcoords="offset points", va="center", fontsize=9)  # fmt: skip
    ax.set_yticks(range(len(scores)), [s.measure.name for s in scores], fontsize=9)
    ax.invert_yaxis()
    ax.set_xlim(min(-0.05, *(max(s.low, -1) for s in scores)), 1.02)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    ax.set_xlabel(f"x = {pair.x}, y = {pair.y}; {pair.rows:,} rows", fontsize=9)
    return _png(figure)


def _map(
    ax: Any,
    values: Float64[ndarray, "r c"],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    chance: Bool[ndarray, "r c"],
) -> None:
    ax.imshow(np.ma.masked_invalid(values), cmap=COLOURS, vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            number = f"{value:.2f}".replace("-0.00", "0.00")
            text = f"({number})" if chance[i, j] else number
            ax.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if value > 0.6 else "#222222")
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=8)
    ax.set_yticks(range(len(rows)), rows, fontsize=8)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _png(figure: Figure) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()
