"""An audit as text: for a terminal, a spreadsheet, a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from unmix.audit.finding import Finding
from unmix.measures.score import FIELDS, TWO_P, Refusal, Score
from unmix.sheets import booktabs, sheet, tex

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

HEADS = ("factor", "kind", "measure", "linear", "95 % interval", "chance", "p", "boosted", "state")
PROBE = ("boosted", "linear", "gain", "low", "high")


def cells(finding: Finding) -> tuple[str, ...]:
    """The line of a factor, under `HEADS`."""
    score, probe = finding.score, finding.probe
    boosted = "–" if probe is None else f"{probe.boosted:.3f}"
    about = finding.name, finding.kind, finding.measure
    if isinstance(score, Refusal):
        return (*about, "refused", "–", "–", "–", boosted, finding.state.value)
    span = f"{score.low:.3f} … {score.high:.3f}"
    return (
        *about,
        f"{score.value:.3f}",
        span,
        score.null_shown,
        score.p_shown,
        boosted,
        finding.state.value,
    )


def terminal(report: AuditReport) -> Table:
    """A row a factor: its kind below its name, the interval below the score."""
    title = f"Factors in {escape(report.name)}, {report.rows:,} rows, held out"
    probed = any(f.probe for f in report.findings)
    said = ["boosted: the score of gradient boosting"] if probed else []
    said += (
        [TWO_P]
        if any(isinstance(f.score, Score) and f.score.p_beyond_place is not None for f in report.findings)
        else []
    )
    table = Table(title=title, caption="; ".join(said) or None)
    for head in ("factor", "linear score", "chance", "p", *(["boosted"] if probed else []), "state"):
        table.add_column(head, justify="left" if head in ("factor", "state") else "right")
    for finding in report.findings:
        name, kind, measure, *numbers, state = map(escape, cells(finding))
        score, span, null, p, boosted = numbers
        short = "acc." if finding.levels else measure
        table.add_row(
            f"{name}\n[dim]{kind}[/]",
            f"{short} {score}\n[dim]{span}[/]",
            null,
            p,
            *([boosted] if probed else []),
            state,
        )
    return table


def plain(report: AuditReport) -> str:
    """Lines of text."""
    lines = [f"{report.name}: {report.rows} rows, {len(report.outputs)} outputs"]
    lines += [f"  {f.name:16} {f.measure:18} {f.score}  ({f.state.value})" for f in report.findings]
    lines += [f"  {some.name}: left out, {some.reason}" for some in report.left]
    lines += [report.verdict, *(f"Warning: {w}" for w in report.warnings), *(f"Note: {n}." for n in report.notes)]
    return "\n".join(lines)


def csv(report: AuditReport) -> str:
    """One line a factor, also of those that were left out."""
    heads = ["factor", "kind", "measure", "state", *FIELDS, *(f"probe {name}" for name in PROBE), "output", "why not"]
    rows = []
    for f in report.findings:
        numbers = [""] * len(FIELDS) if isinstance(f.score, Refusal) else [getattr(f.score, name) for name in FIELDS]
        probe = [""] * len(PROBE) if f.probe is None else [getattr(f.probe, name) for name in PROBE]
        why = f.score.reason if isinstance(f.score, Refusal) else ""
        rows.append([f.name, f.kind, f.measure, f.state.value, *numbers, *probe, report.matched.get(f.name, ""), why])
    blank = [""] * (len(FIELDS) + len(PROBE) + 1)
    rows += [[some.name, "", "", "left out", *blank, some.reason] for some in report.left]
    return sheet(heads, rows)


def latex(report: AuditReport) -> str:
    """A booktabs table."""
    return booktabs(
        "lll" + "r" * 5 + "l", [tex(h) for h in HEADS], ([tex(c) for c in cells(f)] for f in report.findings)
    )
