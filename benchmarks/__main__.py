"""Run every benchmark, or those that are named, print the table, and write them as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import audit, demo, factors, growth, imports, kernels, labels, measures, official_step, sampling
from benchmarks.measure import Row
from benchmarks.page import PAGE, RESULTS, with_table
from unmix.files import write_atomically, write_json
from unmix.training.folder import versions

PARTS: dict[str, Callable[[], list[Row]]] = {
    "kernels": lambda: kernels.rows(torch.get_num_threads()),
    "labels": lambda: labels.rows(torch.get_num_threads()),
    "official_step": official_step.rows,
    "sampling": sampling.rows,
    "measures": lambda: measures.rows(torch.get_num_threads()),
    "audit": lambda: audit.rows(torch.get_num_threads()),
    "factors": factors.rows,
    "growth": growth.rows,
    "imports": imports.rows,
    "demo": demo.rows,
}


def main() -> None:
    asked = sys.argv[1:] or list(PARTS)
    if unknown := set(asked) - set(PARTS):
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}.")
    console = Console(width=max(Console().width, 150))
    rows: list[Row] = []
    kept = json.loads(RESULTS.read_text())
    for name in asked:
        console.print(f"running {name} …", style="dim")
        found = PARTS[name]()
        rows += found
        when = datetime.now(UTC).isoformat(timespec="seconds")
        kept[name] = {"when": when, "versions": versions(), "rows": [asdict(row) for row in found]}
    table = Table(title=f"unmix benchmarks, {torch.get_num_threads()} threads; ratios within one run")
    for column in ("what", "ours", "baseline", "ratio", "goal", ""):
        table.add_column(column, justify="right" if column == "ratio" else "left")
    for row in rows:
        mark = {True: "✓", False: "✗", None: ""}[row.reached]
        table.add_row(row.name, row.ours, row.baseline, f"{row.ratio:.3g}", row.goal, mark)
    console.print(table)
    write_json(RESULTS, {name: kept[name] for name in PARTS if name in kept})
    write_atomically(PAGE, with_table(PAGE.read_text()).encode())
    console.print(f"written to {RESULTS.name} and {PAGE.name}")


if __name__ == "__main__":
    main()
