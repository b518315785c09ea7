"""The tables of docs/files.md, made from results.json and from nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docs.blocks import with_block

from fuzz.trial import ANSWERED, FINE, REFUSED
from fuzz.writers import FAILED, WELL
from fuzz.writers import REFUSED as AT_ONCE
from unmix.files import read_json
from unmix.sheets import markdown_row

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "fuzz" / "results.json", ROOT / "docs" / "files.md"


def with_results(page: str) -> str:
    """The page with its numbers replaced."""
    results = read_json(RESULTS)
    page = with_block(page, "tried", _tried(results))
    page = with_block(page, "damaged", _damaged(results["files"]))
    page = with_block(page, "kills", _kills(results["kills"]))
    return with_block(page, "crowds", _crowds(results["crowds"]))


def _tried(results: dict[str, Any]) -> str:
    made, cases = results["versions"], sum(sum(counts.values()) for _, counts in results["files"])
    return (
        f"Tried {results['when'][:10]} with unmix {made['unmix']}, torch {made['torch']} and numpy {made['numpy']}: "
        f"{cases:,} damaged files, {sum(row['kills'] for row in results['kills'])} kills, seed {results['seed']}.\n"
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join([*map(markdown_row, lines), ""])


def _damaged(files: list[tuple[str, dict[str, int]]]) -> str:
    rows = [
        [
            target,
            *(f"{counts.get(way, 0):,}" for way in FINE),
            f"{sum(n for w, n in counts.items() if w not in FINE):,}",
        ]
        for target, counts in files
    ]
    return _table(["read by", ANSWERED, REFUSED, "other"], rows)


def _kills(rows: list[dict[str, Any]]) -> str:
    shown = [
        [f"`um.{r['verb']}`", f"{r['kills']}", f"{r['torn']}", f"{r['compared'] - len(r['differ'])} of {r['compared']}"]
        for r in rows
    ]
    return _table(["verb", "kills", "torn files", "files equal to the bit"], shown)


def _crowds(rows: list[dict[str, Any]]) -> str:
    shown = [[r["what"], f"{r['calls']:,}", *(f"{r[way]:,}" for way in (WELL, AT_ONCE, FAILED))] for r in rows]
    return _table(["what", "calls", "ended well", "refused at once", "failed"], shown)
