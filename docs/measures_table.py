"""The table of measures in docs/measures.md, made from what the measures declare."""

from pathlib import Path

from blocks import with_block

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
from unmix.sheets import markdown_row

PAGE = Path(__file__).parent / "measures.md"
MEASURES = (R2(), R2(ridge=1.0), CCA(), SVCCA(components=16), PWCCA(), Procrustes(), CKA(), MCC(), ICA(), Neighbours(),
            RSA(), DistanceCorrelation(), KernelCKA())  # fmt: skip


def unseen(changes: Invariance) -> str:
    """The largest families only: what they contain goes without saying."""
    largest = [c for c in Change if c in changes and not any(c in o.contains and o is not c for o in changes)]
    return ", ".join(c.value for c in largest) or "nothing"


def rendered() -> str:
    heads = ["measure", "does not see, of x", "does not see, of y", "assumes", "from"]
    lines = [markdown_row(heads), "|" + "---|" * len(heads)]
    for m in MEASURES:
        lines.append(markdown_row([m.name, unseen(m.invariant_x), unseen(m.invariant_y), m.assumes, m.reference]))
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with its table replaced."""
    return with_block(page, "measures", rendered())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
