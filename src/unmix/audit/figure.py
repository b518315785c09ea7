"""True against recovered latents, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmix.files import write_atomically
from unmix.indeterminacy import AFFINE, Indeterminacy
from unmix.measures import Recovery
from unmix.measures.digits import number
from unmix.measures.rows import as_matrix
from unmix.report.drawing import drawing, png

PANELS, POINTS = 5, 1500


def save_recovery_figure(
    path: str | Path, truth: Any, rows: Mapping[str, tuple[Any, Recovery]], up_to: Indeterminacy = AFFINE
) -> None:
    """A PNG with one row of panels a representation and one panel a latent, on held-out rows.

    Parameters
    ----------
    truth : (n, d) latents.
    rows : title → (embedding (n, k), its recovery).
    up_to : the class whose map, fitted on the other rows, is applied first; affine if it does not apply to all.
    """
    z = as_matrix(truth, "the truth")
    everywhere = all(any(s.up_to == up_to for s in r.steps) for _, r in rows.values())
    used = up_to if everywhere else AFFINE
    panels = min(PANELS, z.shape[1])
    with drawing(max(2.1 * panels + 0.6, 4.4), 2.3 * len(rows) + 0.6) as figure:
        axes = figure.subplots(len(rows), panels, squeeze=False)
        for line, (title, (embedding, recovery)) in zip(axes, rows.items(), strict=True):
            shown, scores = recovery.test_rows[:POINTS], recovery.step(used).per_dimension
            recovered = recovery.recovered(embedding, used)[shown]
            for k, ax in enumerate(line):
                low, high = z[:, k].min(), z[:, k].max()
                margin = 0.15 * (high - low)
                ax.axline((low, low), slope=1, color="#c44e52", linewidth=1, zorder=1)
                ax.scatter(z[shown, k], recovered[:, k], s=3, color="#33608c", alpha=0.35, linewidths=0, zorder=2)
                ax.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin), aspect="equal")
                ax.set_title(f"latent {k + 1}:  R² {number(scores[k])}", fontsize=9)
                ax.locator_params(nbins=4)
                ax.tick_params(labelsize=7)
            line[0].set_ylabel(f"recovered from\n{title}", fontsize=9)
        for ax in axes[-1]:
            ax.set_xlabel("true", fontsize=9)
        some = f" ({panels} of {z.shape[1]})" if panels < z.shape[1] else ""
        gap = " " if panels >= 4 else "\n"
        figure.suptitle(
            f"Latents{some} up to: {used}.{gap}Held-out rows; the red line is perfect recovery.", fontsize=9
        )
    write_atomically(Path(path), png(figure))
