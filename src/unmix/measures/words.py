"""What is said of a ladder, the same everywhere: the classes named with what they lose, or why none is."""

from __future__ import annotations

from collections.abc import Sequence

from unmix.measures.digits import number
from unmix.measures.direction import in_words
from unmix.measures.ladder import COMPLETE, Extent, Ladder

MOST_COLUMNS, MOST_DIRECTIONS = 100, 3


def classes_named(ladder: Ladder) -> str:
    """Such as "orthogonal (loses at most 0.003)"; empty where no class is named."""
    return " or ".join(f"{c} (loses at most {number(max(loss, 0.0))})" for c, loss in ladder.named.items())


def why_no_class(ladder: Ladder, columns: Sequence[str], of: str) -> str:
    """Why no class of maps is named of something that is above chance.

    Parameters
    ----------
    columns : the names of what directions are made of.
    of : what the columns make up, such as "the truth".
    """
    if ladder.extent is Extent.IN_PART and ladder.weakest is not None:
        which = f" ({ladder.weakest.named(columns)})" if len(columns) <= MOST_COLUMNS else ""
        return f"in one direction of {of}{which} R² is only {number(ladder.weakest.r2)}, so no class of maps is named"
    return f"R² is below {COMPLETE:g}, so no class of maps is named"


def not_judged(ladder: Ladder, columns: Sequence[str]) -> str:
    """A sentence on the directions in which the truth hardly varies; empty where there are none."""
    count = len(ladder.unjudged)
    if not count:
        return ""
    if len(columns) > MOST_COLUMNS:
        return f"Not judged: {count} directions in which columns hardly vary apart."
    listed = "; ".join(in_words(weights, columns) for weights in ladder.unjudged[:MOST_DIRECTIONS])
    more = f" and {count - MOST_DIRECTIONS} more" if count > MOST_DIRECTIONS else ""
    return f"Not judged: {listed}{more}; these hardly vary apart."
