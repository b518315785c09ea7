"""Scores in words that can be quoted: the score, its interval, chance, p and the rows, written alike everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.measures.direction import in_words
from unmix.measures.ladder import COMPLETE, Extent, Ladder
from unmix.measures.score import Score, number, rows_in_words


def quoted(name: str, score: Score, rows: bool = True) -> str:
    """Such as "R² 0.853 [0.840, 0.866], chance -0.010, p < 1/200, 1,000 rows"."""
    where = f", {rows_in_words(score)}" if rows else ""
    return f"{name} {score}{where}"


def up_to(ladder: Ladder) -> str:
    """The classes named, each with what it loses; empty where none is."""
    classes = [f"{c} (which loses at most {number(max(loss, 0.0))})" for c, loss in ladder.named.items()]
    return " or ".join(classes)


def why_no_class(ladder: Ladder, columns: Sequence[str], of: str) -> str:
    """Why no class of maps is named, of what is above chance.

    Parameters
    ----------
    of : what the directions are directions of, such as "the truth".
    """
    if ladder.extent is Extent.THROUGHOUT:
        return f"R² is below {COMPLETE:g}, so no class of maps is named"
    if ladder.extent is Extent.IN_PART and ladder.weakest is not None:
        direction = f" ({ladder.weakest.named(columns)})" if len(columns) <= MOST_COLUMNS else ""
        return f"in one direction of {of}{direction} R² is only {number(ladder.weakest.r2)}, so no class of maps is named"
    return ""


def not_judged(ladder: Ladder, columns: Sequence[str]) -> str:
    """The directions in which the truth hardly varies; empty where there are none."""
    if not ladder.unjudged:
        return ""
    if len(columns) > MOST_COLUMNS:
        return f"Not judged: {len(ladder.unjudged)} directions in which these columns hardly vary apart."
    listed = "; ".join(in_words(weights, columns) for weights in ladder.unjudged[:MOST_DIRECTIONS])
    more = f" and {len(ladder.unjudged) - MOST_DIRECTIONS} more" if len(ladder.unjudged) > MOST_DIRECTIONS else ""
    return f"Not judged: {listed}{more}, since these hardly vary apart."


MOST_COLUMNS, MOST_DIRECTIONS = 100, 3
