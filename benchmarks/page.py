"""The benchmark table of docs/benchmarks.md, made from results.json and from nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results.json", ROOT / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


def rendered() -> str:
    """The table in Markdown, with when and with what each part was measured."""
    parts = json.loads(RESULTS.read_text())
    lines = ["| what | ours | baseline | ratio | goal |", "|---|---|---|---|---|"]
    for row in (row for part in parts.values() for row in part["rows"]):
        mark = {True: " ✓", False: " ✗ not reached", None: ""}[row["reached"]]
        lines.append(
            f"| {row['name']} | {row['ours']} | {row['baseline']} | {row['ratio']:.3g} | {row['goal']}{mark} |"
        )
    made = {
        name: (part["when"][:10], part["versions"]["torch"], part["versions"]["threads"])
        for name, part in parts.items()
    }
    for day, torch, threads in sorted(set(made.values())):
        names = [name for name in made if made[name] == (day, torch, threads)]
        told = f" ({', '.join(names)})" if len(set(made.values())) > 1 else ""
        lines += ["", f"Measured {day} with torch {torch}, {threads} threads{told}."]
    return "\n".join([*lines, ""])


def with_table(page: str) -> str:
    """The page with its table replaced."""
    return BLOCK.sub(lambda m: m[1] + rendered() + m[2], page)
