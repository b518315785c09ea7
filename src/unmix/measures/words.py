"""What is said of a ladder, the same everywhere: the classes named with what they lose, or why none is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unmix.measures.digits import number
from unmix.measures.direction import in_words
from unmix.measures.ladder import COMPLETE, Extent, Ladder

MOST_COLUMNS, MOST_DIRECTIONS = 100, 3


def classes_named(ladder: Ladder) -> str:
    """Such as "orthogonal (loses at most 0.003)"; empty where no class is named."""
    return " or ".join(f"{c} (loses at most {number(max(loss, 0.0))})" for c, loss in ladder.named.items())


def capitalised(sentence: str) -> str:
    """With a capital first letter; the others stay as they are."""
    return sentence[:1].upper() + sentence[1:]


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


def monotone_named(r2: float | None, columns: str, outputs: str) -> str:
    """A sentence where R² of ranks says that columns are monotone functions of outputs; else empty."""
    if r2 is None or r2 < COMPLETE:
        return ""
    return f"{columns} is a monotone function of one {outputs} (R² of ranks {number(r2)} in the worst direction)."


def made_by(settings: Mapping[str, Any]) -> str:
    """How the numbers of a comparison or an audit were made, from its settings: folds, intervals, chance, p."""
    most = "at most " if settings["time"] else ""
    pairings = "shifts in time" if settings["time"] else "permutations"
    kept = ", groups kept whole" if settings["groups"] else ""
    return (
        f"{settings['folds']} folds. Intervals are 95 % intervals of what these fitted maps score on new rows of the "
        "same kind, not of what the best map of the population would: by leaving out chunks of rows in turn (a "
        f"jackknife) or, where columns are matched or classes are told, by {settings['bootstraps']} resamples of "
        f"chunks. Chance is of {most}{settings['permutations']} {pairings}{kept}, seed {settings['seed']}. p is the "
        f"share of pairings that reach the score; with {settings['permutations']} it cannot be below "
        f"1/{1 + settings['permutations']}."
    )


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
