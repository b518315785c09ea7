"""Times and ratios in words."""

from __future__ import annotations

STEPS = ((86_400 * 365, "years"), (86_400, "days"), (3_600, "h"), (60, "min"))


def duration(seconds: float | None) -> str:
    """In the largest unit of which there are at least two.

    Examples
    --------
    >>> duration(95), duration(300), duration(5e6), duration(None)
    ('95 s', '5.0 min', '58 days', '–')
    """
    if seconds is None:
        return "–"
    for size, unit in STEPS:
        if seconds >= 2 * size:
            count = seconds / size
            return f"{count:.1f} {unit}" if count < 10 else f"{count:.0f} {unit}"
    return f"{seconds:.0f} s"


def times(ratio: float | None) -> str:
    """Examples
    --------
    >>> times(1_234_567.8), times(1.55), times(None)
    ('1,200,000×', '1.6×', '–')
    """
    if ratio is None:
        return "–"
    rounded = float(f"{ratio:.2g}")
    return f"{rounded:,.0f}×" if rounded >= 10 else f"{rounded:g}×"
