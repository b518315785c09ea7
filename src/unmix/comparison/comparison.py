"""The result of comparing representations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from unmix.comparison import export
from unmix.comparison.verdict import pair_verdict, summary
from unmix.errors import require
from unmix.files import write_atomically, write_json
from unmix.indeterminacy import Indeterminacy
from unmix.measures.ladder import Ladder
from unmix.measures.measure import Measure
from unmix.measures.score import Refusal, Score
from unmix.report.drawing import png


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """Two representations x and y: every score, and the smallest classes of maps from x to y.

    Attributes
    ----------
    ladder : whether y is recovered from x in every direction, and up to which classes of maps; None where R² of y from
        x was not asked for, or was refused.
    back : whether x is recovered from y in every direction; no class is named. None likewise.
    monotone : the smallest R² of the ranks of y, in any direction, when each column of y is a monotone function of one
        of x; and of x from y. None where a permutation is named, which says more, and where it is plainly not so.
    """

    x: str
    y: str
    widths: tuple[int, int]
    rows: int
    scores: tuple[Score | Refusal, ...]
    ladder: Ladder | None
    notes: tuple[str, ...]
    back: Ladder | None = None
    monotone: tuple[float | None, float | None] = (None, None)

    def score(self, measure: Measure) -> Score | Refusal:
        """The score of one of the measures that were asked for."""
        found = [s for s in self.scores if s.measure == measure]
        names = ", ".join(s.measure.name for s in self.scores)
        require(bool(found), f"{measure!r} was not measured: ask compare for it. There are {names}.")
        return found[0]

    @property
    def minimal(self) -> tuple[Indeterminacy, ...]:
        """The smallest classes of maps from x to y that lose little: none, one or two."""
        return self.ladder.minimal if self.ladder else ()

    @property
    def verdict(self) -> str:
        return pair_verdict(self.x, self.y, self.scores, self.ladder, self.back, self.monotone)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "x": self.x,
            "y": self.y,
            "widths": list(self.widths),
            "rows": self.rows,
            "scores": {s.measure.name: s.as_dict() for s in self.scores},
            "ladder": self.ladder.as_dict() if self.ladder else None,
            "back": self.back.as_dict() if self.back else None,
            "monotone": list(self.monotone),
            "verdict": self.verdict,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Pairs of representations by measures.

    Examples
    --------
    >>> import numpy as np, unmix as um
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=(500, 4))
    >>> found = um.compare(a, a @ rng.normal(size=(4, 4)) + 1, names=("a", "b"), measures=[um.measures.CCA()])
    >>> round(found.pairs[0].scores[0].value, 6)
    1.0
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    pairs: tuple[Pair, ...]
    settings: dict[str, Any]

    def pair(self, x: str, y: str) -> Pair:
        """The comparison of two of the names, in the order in which they were given."""
        found = [p for p in self.pairs if (p.x, p.y) == (x, y)]
        there = ", ".join(f"({p.x}, {p.y})" for p in self.pairs)
        require(bool(found), f"there is no pair ({x}, {y}): there are {there}.")
        return found[0]

    def matrix(self, measure: Measure, field: str = "value") -> Float64[ndarray, "m m"]:
        """The score of each name as x (rows) with each as y (columns); NaN where it was refused or not measured.

        Below the diagonal x and y change places: by the same measure if it does not matter to it which is which,
        else by the one that asks the other way round (R² y → x), if it was measured too.

        Parameters
        ----------
        field : another attribute of the scores, such as "calibrated", "p_value" or "above_chance" (1 or 0).
        """
        table = np.full((len(self.names), len(self.names)), np.nan)
        if field in ("value", "calibrated"):
            np.fill_diagonal(table, 1.0)
        for p in self.pairs:
            i, j = self.names.index(p.x), self.names.index(p.y)
            for at, asked in (((i, j), measure), ((j, i), measure.mirrored)):
                score = p.score(asked) if asked is not None and asked in self.measures else None
                if isinstance(score, Score):
                    table[at] = getattr(score, field)
        return table

    @property
    def verdict(self) -> str:
        """In words: a sentence a pair, and what the pairs have in common."""
        return summary([p.verdict for p in self.pairs], [p.scores for p in self.pairs])

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "names": list(self.names),
            "measures": {
                m.name: {
                    "assumes": m.assumes,
                    "reference": m.reference,
                    "unchanged by, of x": sorted(c.value for c in m.invariant_x),
                    "unchanged by, of y": sorted(c.value for c in m.invariant_y),
                }
                for m in self.measures
            },
            "settings": self.settings,
            "pairs": [p.as_dict() for p in self.pairs],
            "verdict": self.verdict,
        }

    def save(self, path: str | Path) -> None:
        """Write .html (a page to send), .json (everything), .csv or .tex (the table), or .png (the heat maps)."""
        file = Path(path)
        if file.suffix == ".json":
            write_json(file, self.as_dict())
        elif file.suffix == ".png":
            from unmix.comparison.figure import heat_maps

            write_atomically(file, png(heat_maps(self)))
        elif file.suffix == ".html":
            from unmix.comparison.page import html

            write_atomically(file, html(self).encode())
        else:
            texts = {".csv": export.csv, ".tex": export.latex}
            require(
                file.suffix in texts, f"a comparison is saved as .html, .json, .csv, .tex or .png, not {file.name}."
            )
            write_atomically(file, texts[file.suffix](self).encode())

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}; {', '.join(m.name for m in self.measures)})"

    def __str__(self) -> str:
        return export.plain(self)
