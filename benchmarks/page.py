"""The benchmark table of docs/benchmarks.md, made from results.json and from nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results.json", ROOT / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


def rendered() -> str:
    """The table in Markdown, with when and with what it was measured."""
    results = json.loads(RESULTS.read_text())
    lines = ["| what | ours | baseline | ratio | goal |", "|---|---|---|---|---|"]
    for row in results["rows"]:
        mark = {True: " ✓", False: " ✗ not reached", None: ""}[row["reached"]]
        lines.append(
            f"| {row['name']} | {row['ours']} | {row['baseline']} | {row['ratio']:.3g} | {row['goal']}{mark} |"
        )
    made = results["versions"]
    lines += ["", f"Measured {results['when'][:10]} with torch {made['torch']}, {made['threads']} threads.", ""]
    return "\n".join(lines)


def with_table(page: str) -> str:
    """The page with its table replaced."""
    return BLOCK.sub(lambda m: m[1] + rendered() + m[2], page)
