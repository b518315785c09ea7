"""Which factors a figure shows: all where they are few, else those that are there most and least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmix.audit.finding import Finding
from unmix.measures.score import Score

MOST = 20


def extremes(findings: Sequence[Finding], most: int = MOST) -> list[int]:
    """The numbers of the factors: all, as they came, up to twice `most`; else, by strength, the first and last `most`.

    Refused ones have no strength and are shown only where too few are scored.
    """
    if len(findings) <= 2 * most:
        return list(range(len(findings)))
    order = sorted(range(len(findings)), key=lambda i: -_strength(findings[i]))  # refused ones come last
    scored = sum(isinstance(f.score, Score) for f in findings)
    return [*order[:most], *order[: max(scored, 2 * most)][-most:]]


def which(findings: Sequence[Finding], most: int = MOST) -> str:
    """What to say of a figure that shows not all of them."""
    shown = len(extremes(findings, most))
    if shown == len(findings):
        return ""
    return (
        f" Of {len(findings):,} factors the {shown - shown // 2} that are there most and the {shown // 2} that are "
        "there least; the table of factors has all."
    )


def _strength(finding: Finding) -> float:
    return finding.strength(finding.score.value) if isinstance(finding.score, Score) else -np.inf
