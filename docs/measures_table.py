"""The table of measures in docs/comparing.md, made from what the measures declare."""

from pathlib import Path

from unmix.measures import (
    CCA,
    CKA,
    ICA,
    MCC,
    PWCCA,
    R2,
    RSA,
    SVCCA,
    DistanceCorrelation,
    KernelCKA,
    Neighbours,
    Procrustes,
)
from unmix.measures.invariance import Change, Invariance

PAGE = Path(__file__).parent / "comparing.md"
START, END = "<!-- measures -->\n", "<!-- /measures -->"
MEASURES = (R2(), R2(ridge=1.0), CCA(), SVCCA(components=16), PWCCA(), Procrustes(), CKA(), MCC(), ICA(), Neighbours(),
            RSA(), DistanceCorrelation(), KernelCKA())  # fmt: skip


def unseen(changes: Invariance) -> str:
    """The largest families only: what they contain goes without saying."""
    largest = [c for c in Change if c in changes and not any(c in o.contains and o is not c for o in changes)]
    return ", ".join(c.value for c in largest) or "nothing"


def rendered() -> str:
    lines = ["| measure | does not see, of x | does not see, of y | assumes | from |", "|---|---|---|---|---|"]
    for m in MEASURES:
        cells = (m.name, unseen(m.invariant_x), unseen(m.invariant_y), m.assumes, m.reference)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    """The page with its table replaced."""
    before, rest = page.split(START)
    return before + START + rendered() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
