"""The figures of a report, each with the sentence that says what to see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.audit.extremes import extremes, which
from unmix.audit.finding import Finding
from unmix.audit.structure import effective_dimension
from unmix.measures.digits import number
from unmix.measures.score import Score
from unmix.report.drawing import ACCENT, CHANCE, LINE, SECOND, SOFT, drawing, shortened, svg
from unmix.report.page import Drawing

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

MOST_OUTPUTS, MOST_PANELS, MOST_BESIDE, MOST_LINES, ACROSS, MOST_NUMBERS, LOWEST = 40, 12, 12, 20, 3, 160, -0.2


def bars(report: AuditReport) -> Drawing:
    """A line a factor: score with its interval, chance, and the nonlinear probe."""
    found = [report.findings[i] for i in extremes(report.findings)]
    with drawing(5.8, 0.4 * len(found) + 1.2) as figure:
        ax = figure.subplots()
        for i, f in enumerate(found):
            if isinstance(f.score, Score):
                low, value, null = (max(v, LOWEST) for v in (f.score.low, f.score.value, f.score.null))
                ax.plot([low, f.score.high], [i, i], color=ACCENT, linewidth=7, alpha=0.4, solid_capstyle="butt")
                _mark(ax, value, i, "o", ACCENT, 6, "linear, 95 % interval")
                if f.score.p_value is not None:
                    _mark(ax, null, i, "|", CHANCE, 15, "chance")
            if f.probe is not None:
                _mark(ax, max(f.probe.boosted, LOWEST), i - 0.27, "D", SECOND, 4.5, "gradient boosting")
        ax.set_yticks(range(len(found)), [f"{shortened(f.name)}  ({'acc.' if f.levels else 'R²'})" for f in found])
        ax.set(xlim=(LOWEST - 0.02, 1.03), ylim=(len(found) - 0.4, -0.7), xlabel="held-out score")
        ax.axvline(1, color=LINE, zorder=0)
        if len(found) < len(report.findings):
            ax.axhline(len(found) - len(found) // 2 - 0.5, color=SOFT, linewidth=1, linestyle=":")
        handles = {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        ax.legend(handles.values(), handles, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3)
        text = svg(figure, "bars")
    return Drawing(
        text,
        "To see: how far each dot stands from its red mark, which is what chance alone gives, and whether the diamond "
        "of the nonlinear probe is further right: then the factor is there, but not as a linear direction. Scores "
        f"below {LOWEST} are drawn there.{which(report.findings)}",
    )


def _mark(ax: Any, x: float, y: float, shape: str, colour: str, size: float, label: str) -> None:
    ax.plot([x], [y], shape, color=colour, markersize=size, markeredgewidth=2.5 if shape == "|" else 0, label=label)


def true_against_recovered(report: AuditReport) -> Drawing:
    """A panel a factor: points about the diagonal, or which class is named as which."""
    shown = [report.findings[i] for i in extremes(report.findings, MOST_PANELS // 2)]
    across = min(ACROSS, len(shown))
    down = -(-len(shown) // across)
    with drawing(1.95 * across + 0.2, 2.1 * down) as figure:
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for ax, f in zip(axes, shown, strict=False):
            value = number(f.score.value) if isinstance(f.score, Score) else "refused"
            ax.set_title(f"{shortened(f.name, 15)}: {value}")
            ax.tick_params(labelsize=7)
            _points(ax, f) if f.panel.confusion is None else _classes(ax, f, f.panel.confusion)
        for ax in axes[len(shown) :]:
            ax.set_visible(False)
        text = svg(figure, "panels")
    return Drawing(
        text,
        "To see: of numbers, whether points lie on the red line; a bend means a nonlinear code, a flat band means that "
        "nothing was found. Of classes, whether the diagonal is dark. Held-out rows, recovered by the linear map that "
        f"was fitted on the others.{which(report.findings, MOST_PANELS // 2)}",
    )


def _points(ax: Any, f: Finding) -> None:
    low, high = float(f.panel.true.min()), float(f.panel.true.max())
    margin = 0.12 * (high - low)
    ax.axline((low, low), slope=1, color=CHANCE, linewidth=1)
    ax.scatter(f.panel.true, f.panel.recovered, s=4, color=ACCENT, alpha=0.4, linewidths=0, rasterized=True)
    ax.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin), xlabel="true", ylabel="recovered")
    ax.locator_params(nbins=4)


def _classes(ax: Any, f: Finding, confusion: Float64[ndarray, "c c"]) -> None:
    ax.imshow(confusion / np.maximum(confusion.sum(1, keepdims=True), 1), vmin=0, vmax=1)
    names = [shortened(level, 8) for level in f.levels]
    shown = range(0, len(names), -(-len(names) // 12))
    ax.set_xticks(shown, [names[i] for i in shown], rotation=45, ha="right", fontsize=7)
    ax.set_yticks(shown, [names[i] for i in shown], fontsize=7)
    ax.set(xlabel="named as", ylabel="true class")


def heat_map(report: AuditReport) -> Drawing:
    """Outputs by factors: correlation, and importance to the probe."""
    chosen = extremes(report.findings)
    strength = np.abs(report.associations)[:, chosen]
    order = np.sort(np.argsort(-strength.max(1), kind="stable")[:MOST_OUTPUTS])
    tables = [("|correlation|", strength[order])]
    if report.dci is not None:
        parts = report.dci.importance / np.maximum(report.dci.importance.max(0), 1e-12)
        tables.append(("importance to the probe", parts[order][:, chosen]))
    names = [shortened(report.findings[i].name, 16) for i in chosen]
    beside = len(names) <= MOST_BESIDE  # else one table below the other, with narrower cells
    across, down = (len(tables), 1) if beside else (1, len(tables))
    wide, high = (0.55 if beside else 0.26) * len(names) + 0.6, 1.7 + 0.2 * len(order)
    with drawing(1.6 + wide * across, high * down) as figure:
        axes = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
        for ax, (title, table) in zip(axes, tables, strict=True):
            ax.imshow(table, vmin=0, vmax=1, aspect="auto")
            ax.set_xticks(range(len(names)), names, rotation=45 if beside else 90, ha="right" if beside else "center")
            ax.set_title(title)
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
            for (i, j), value in np.ndenumerate(table) if table.size <= MOST_NUMBERS else ():
                colour = "#ffffff" if value > 0.55 else "#111111"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
            ax.set_yticks(range(len(order)), [shortened(report.outputs[i], 14) for i in order], fontsize=7)
            ax.label_outer()
            ax.set_ylabel("output" if ax is axes[0] or not beside else "")
        text = svg(figure, "heat")
    fewer = f" Of {len(strength)} outputs the {len(order)} with the strongest correlations."
    return Drawing(
        text,
        "To see: one dark cell a column and a row means that single outputs stand for single factors; dark everywhere "
        "means that factors are mixed, and that single outputs should not be read."
        + (fewer if len(order) < len(strength) else "")
        + which(report.findings),
    )


def curves(report: AuditReport) -> Drawing:
    """Score against rows, a line a factor."""
    shown = [report.findings[i] for i in extremes(report.findings, MOST_LINES // 2)]
    with drawing(5.8, max(3.2, 0.2 * len(shown) + 0.3)) as figure:  # as high as the names of the lines
        ax = figure.subplots()
        for i, f in enumerate(shown):
            if len(f.curve) > 1:
                rows, scores, _ = zip(*f.curve, strict=True)
                style = {"color": f"C{i % 10}", "linestyle": ("-", "--", ":", "-.")[i // 10 % 4]}
                ax.plot(rows, np.maximum(scores, LOWEST), "o", markersize=3, label=shortened(f.name), **style)
        ax.set(xscale="log", xlabel="rows the map was fitted on", ylabel="held-out score", ylim=(LOWEST - 0.02, 1.03))
        ax.xaxis.set_major_formatter(lambda rows, _: f"{rows:,.0f}")
        ax.xaxis.set_minor_formatter("")
        ax.axhline(1, color=LINE, zorder=0)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        text = svg(figure, "curves")
    return Drawing(
        text,
        "To see: where a line is flat, more rows will not help; where it still rises above 0 (or above chance), the "
        "score is limited by the number of rows. A line that rises from below towards chance is noise. Rows are taken "
        f"in random chunks, so it says nothing of rows of another kind.{which(report.findings, MOST_LINES // 2)}",
    )


def spectrum(report: AuditReport) -> Drawing:
    """Share of variance of the outputs' principal directions, and their sum so far."""
    shares = report.shares
    rest = ""
    if report.explained is not None:
        rest = (
            f" {100 * max(report.explained, 0):.0f} % of their variance is linear in the factors, held out; the rest "
            "is something that these factors do not name, or noise."
        )
    with drawing(5.8, 2.7) as figure:
        ax = figure.subplots()
        count = np.arange(1, len(shares) + 1)
        ax.bar(count, shares, color=ACCENT, alpha=0.6, width=0.9 if len(shares) < 80 else 1.0, linewidth=0)
        ax.plot(count, np.cumsum(shares), color=SECOND, linewidth=1.5, label="all so far")
        effective = effective_dimension(shares)
        ax.axvline(effective, color=SOFT, linestyle=":", label=f"effective dimension {effective:.1f}")
        ax.set(xlabel="principal direction of the outputs", ylabel="share of variance", ylim=(0, 1.03))
        ax.legend(loc="center right")
        text = svg(figure, "spectrum")
    return Drawing(
        text,
        "To see: how many directions the outputs use." + rest,
    )
