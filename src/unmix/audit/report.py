"""The result of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float64
from numpy import ndarray

from unmix.audit import export
from unmix.audit.citations import bibtex
from unmix.audit.dci import DCI
from unmix.audit.finding import Finding
from unmix.audit.structure import effective_dimension
from unmix.audit.trust import Check
from unmix.audit.words import verdict
from unmix.errors import require
from unmix.factors import Left
from unmix.files import write_atomically, write_json
from unmix.measures import Recovery
from unmix.measures.names import in_a_row


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport:
    """Which factors an embedding holds, up to what, in which outputs, and how far to trust it.

    Attributes
    ----------
    name, rows : of the embedding.
    outputs : the names of its columns that are not constant.
    findings : one a factor.
    left : factors that could not be asked for, and why.
    whole, together : the recovery of all factors that are numbers at once, and their names; None where it cannot be
        scored.
    associations : (outputs, factors) correlation of each output with each factor; see `structure.association`.
    matched : factor → output, one to one.
    dci : disentanglement and completeness, from the probes.
    shares : of variance, of the outputs' principal directions.
    explained : the share of the outputs' variance that is linear in the factors, held out; None where factors are known
        in different rows, or are too many for one pass.
    checks : the assumptions.
    context : what else the page should say first, such as what theory had promised.
    """

    name: str
    rows: int
    outputs: tuple[str, ...]
    findings: tuple[Finding, ...]
    left: tuple[Left, ...]
    whole: Recovery | None
    together: tuple[str, ...]
    associations: Float64[ndarray, "k d"]
    matched: dict[str, str]
    dci: DCI | None
    shares: Float64[ndarray, " k"]
    explained: float | None
    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    settings: dict[str, Any]
    context: tuple[str, ...] = ()

    def finding(self, factor: str) -> Finding:
        """What was found of a factor."""
        found = [f for f in self.findings if f.name == factor]
        require(bool(found), f"there is no factor {factor}: there are {in_a_row([f.name for f in self.findings])}.")
        return found[0]

    @property
    def verdict(self) -> str:
        """In plain words."""
        return " ".join(verdict(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The assumptions that fail, each with what to do."""
        return tuple(c.warning for c in self.checks if c.holds is False)

    def cite(self) -> str:
        """BibTeX of what the scores in this report are from."""
        return bibtex(self)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {
            "embedding": self.name,
            "rows": self.rows,
            "outputs": list(self.outputs),
            "verdict": self.verdict,
            "warnings": list(self.warnings),
            "factors": {f.name: f.as_dict() for f in self.findings},
            "left out": {some.name: some.reason for some in self.left},
            "together": list(self.together),
            "whole": self.whole.as_dict() if self.whole else None,
            "associations": self.associations.tolist(),
            "matched": self.matched,
            "disentanglement": self.dci.disentanglement if self.dci else None,
            "completeness": self.dci.completeness if self.dci else None,
            "informativeness": self.dci.informativeness if self.dci else None,
            "variance shares": self.shares.tolist(),
            "effective dimension": effective_dimension(self.shares),
            "variance explained by the factors": self.explained,
            "assumptions": [c.as_dict() for c in self.checks],
            "notes": list(self.notes),
            "context": list(self.context),
            "settings": self.settings,
        }

    def save(self, path: str | Path) -> None:
        """Write .html (the report), .json (everything), .csv or .tex (the table of factors)."""
        file = Path(path)
        if file.suffix == ".json":
            write_json(file, self.as_dict())
        elif file.suffix == ".html":
            from unmix.audit.page import html  # matplotlib is slow to import

            write_atomically(file, html(self).encode())
        else:
            texts = {".csv": export.csv, ".tex": export.latex}
            require(file.suffix in texts, f"a report is saved as .html, .json, .csv or .tex, not as {file.name}.")
            write_atomically(file, texts[file.suffix](self).encode())

    def __repr__(self) -> str:
        return f"AuditReport({self.name}; {in_a_row([f'{f.name}: {f.state.value}' for f in self.findings])})"

    def __str__(self) -> str:
        return export.plain(self)
