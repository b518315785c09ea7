"""The tables of docs/calibration.md, made from results.json and from nothing else."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "calibration" / "results.json", ROOT / "docs" / "calibration.md"
SURE = 0.999
