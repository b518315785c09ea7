"""The recovery of several representations side by side, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from unmix.indeterminacy import LADDER
from unmix.measures import Recovery
from unmix.measures.digits import number


def recovery_table(columns: Mapping[str, Recovery]) -> Table:
    """Held-out R² for each class of the ladder, without and with an offset, and MCC.

    Examples
    --------
    >>> import numpy as np, unmix as um
    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> recovery_table({"a copy": um.recovery(z, z)}).row_count
    8
    """
    table = Table(title="Recovery of the latents, held out", caption="R² in pairs: without / with an offset")
    table.add_column("up to")
    for name in columns:
        table.add_column(name, justify="right")
    for plain, shifted in zip(LADDER[::2], LADDER[1::2], strict=True):
        cells = []
        for r in columns.values():
            scores = {s.up_to: s.r2 for s in r.steps}
            cells.append(f"{_shown(scores.get(plain))} / {_shown(scores.get(shifted))}")
        table.add_row(f"R²  {plain} map" if plain.name != "identity" else "R²  nothing (identity)", *cells)
    table.add_section()
    table.add_row("MCC (Pearson)", *(_shown(r.mcc_pearson) for r in columns.values()))
    table.add_row("MCC (Spearman)", *(_shown(r.mcc_spearman) for r in columns.values()))
    return table


def _shown(score: float | None) -> str:
    if score is None:
        return "–"
    return number(score) if score > -1 else "< −1"
