"""Heat maps of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64
from numpy import ndarray

from unmix.measures.digits import number
from unmix.measures.score import Score
from unmix.report.drawing import ACCENT, CHANCE, HEAT, drawing, shortened

if TYPE_CHECKING:
    from unmix.comparison.comparison import Comparison
    from unmix.comparison.layers import LayerComparison


def heat_maps(comparison: Comparison) -> Any:
    """A figure: of two representations, one map of measures; of more, one map a measure, names by names."""
    if len(comparison.pairs) == 1:
        return _bars(comparison)
    size = len(comparison.names)
    shown = [m for i, m in enumerate(comparison.measures) if m.mirrored not in comparison.measures[:i]]
    across = min(len(shown), min((4, 3), key=lambda a: -len(shown) % a))  # as few empty places as can be
    down = -(-len(shown) // across)
    side = 0.62 * size + 1.5
    with drawing(across * side, down * side + 0.5) as figure:
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for ax, measure in zip(axes, shown, strict=False):
            chance = comparison.matrix(measure, "above_chance") != 1
            _map(ax, comparison.matrix(measure), comparison.names, comparison.names, chance)
            ax.set_title(measure.name, fontsize=10)
        for ax in axes[len(shown) :]:
            ax.set_visible(False)
        figure.suptitle("Scores of pairs (row x, column y). In brackets: not above chance.", fontsize=9)
    return figure


def layer_map(layers: LayerComparison) -> Any:
    """A figure of layers of one model against layers of the other."""
    rows, columns = layers.values.shape
    with drawing(0.62 * columns + 2, 0.62 * rows + 1.6) as figure:
        ax = figure.subplots()
        _map(ax, layers.values, layers.x, layers.y, ~layers.above_chance)
        ax.set_title(f"{layers.measure.name}. In brackets: not above chance.", fontsize=10)
        ax.set(xlabel="second model", ylabel="first model")
    return figure


def _bars(comparison: Comparison) -> Any:
    pair = comparison.pairs[0]
    scores = [s for s in pair.scores if isinstance(s, Score)]
    with drawing(7, 0.42 * len(scores) + 1.5) as figure:
        ax = figure.subplots()
        for i, s in enumerate(scores):
            ax.plot([s.low, s.high], [i, i], color=ACCENT, linewidth=6, solid_capstyle="butt", alpha=0.45)
            ax.plot([s.value], [i], "o", color=ACCENT, markersize=6, label="score, 95 % interval" if i == 0 else None)
            if s.p_value is not None:
                ax.plot([s.null], [i], "|", color=CHANCE, markersize=16, markeredgewidth=2.5,
                        label="chance" if i == 0 else None)  # fmt: skip
            ax.annotate(number(s.value), (1.0, i), xycoords=("axes fraction", "data"), xytext=(6, 0),
                        textcoords="offset points", va="center", fontsize=9)  # fmt: skip
        ax.set_yticks(range(len(scores)), [s.measure.name for s in scores], fontsize=9)
        ax.invert_yaxis()
        ax.set_xlim(min(-0.05, *(max(s.low, -1) for s in scores)), 1.02)
        ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        ax.set_xlabel(f"x = {shortened(pair.x)}, y = {shortened(pair.y)}; {pair.rows:,} rows", fontsize=9)
    return figure


def _map(
    ax: Any,
    values: Float64[ndarray, "r c"],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    chance: Bool[ndarray, "r c"],
) -> None:
    ax.imshow(np.ma.masked_invalid(values), cmap=HEAT, vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            number = f"{value:.2f}".replace("-0.00", "0.00")
            text = f"({number})" if chance[i, j] else number
            ax.text(j, i, text, ha="center", va="center", fontsize=8, color="#ffffff" if value > 0.6 else "#111111")
    ax.set_xticks(range(len(columns)), [shortened(c) for c in columns], rotation=45, ha="right", fontsize=8)
    ax.set_yticks(range(len(rows)), [shortened(r) for r in rows], fontsize=8)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
