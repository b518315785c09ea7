"""True against recovered latents, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from unmix.indeterminacy import AFFINE
from unmix.measures import Recovery
from unmix.measures.rows import as_matrix
from unmix.training.folder import write_atomically

PANELS, POINTS = 5, 1500


def save_recovery_figure(path: str | Path, truth: Any, rows: Mapping[str, tuple[Any, Recovery]]) -> None:
    """A PNG with one row of panels a representation and one panel a latent: held-out rows, after the affine map.

    Parameters
    ----------
    truth : (n, d) latents.
    rows : title → (embedding (n, k), its recovery).
    """
    from matplotlib.figure import Figure  # slow to import, and needed here only

    z = as_matrix(truth, "the truth")
    panels = min(PANELS, z.shape[1])
    figure = Figure(figsize=(2.1 * panels + 0.6, 2.35 * len(rows) + 0.5), layout="constrained")
    axes = figure.subplots(len(rows), panels, squeeze=False)
    for line, (title, (embedding, recovery)) in zip(axes, rows.items(), strict=True):
        shown, scores = recovery.test_rows[:POINTS], recovery.step(AFFINE).per_dimension
        recovered = recovery.recovered(embedding)[shown]
        for k, ax in enumerate(line):
            ax.axline((z[:, k].mean(),) * 2, slope=1, color="#c44e52", linewidth=1, zorder=1)
            ax.scatter(z[shown, k], recovered[:, k], s=3, color="#33608c", alpha=0.35, linewidths=0, zorder=2)
            ax.set_title(f"latent {k + 1}:  R² {100 * scores[k]:.2f} %", fontsize=8)
            ax.tick_params(labelsize=6)
            ax.spines[["top", "right"]].set_visible(False)
        line[0].set_ylabel(f"{title}\nrecovered", fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("true", fontsize=8)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    write_atomically(Path(path), buffer.getvalue())
