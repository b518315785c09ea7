"""An audit as text: for a terminal, a spreadsheet, a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from unmix.audit.finding import Finding
from unmix.audit.probe import FIELDS as PROBE
from unmix.audit.probe import Probe
from unmix.measures.digits import number
from unmix.measures.score import FIELDS, TWO_P, Refusal, Score
from unmix.printable import escape
from unmix.sheets import booktabs, sheet, tex

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

HEADS = ("factor", "kind", "measure", "linear", "95 % interval", "chance", "p", "boosted vs linear, same rows", "state")


def cells(finding: Finding) -> tuple[str, ...]:
    """The line of a factor, under `HEADS`."""
    score = finding.score
    about = finding.name, finding.kind, finding.measure
    last = "; ".join(probes(finding)) or "–", finding.state.value
    if isinstance(score, Refusal):
        return (*about, "refused", "–", "–", "–", *last)
    return (*about, number(score.value), score.interval_shown, score.null_shown, score.p_shown, *last)


def probes(finding: Finding) -> tuple[str, ...]:
    """Boosted and linear score on the same rows and their difference; of fifths too where boosting finds more there."""
    pairs = [pair(finding.probe)] if finding.probe else []
    told = finding.fifths is not None and finding.fifths.adds
    return (*pairs, *([f"fifths {pair(finding.fifths)}"] if told and finding.fifths else []))


def pair(probe: Probe) -> str:
    """The difference is that of the two as they are printed."""
    boosted, linear = round(probe.boosted, 3), round(probe.linear, 3)
    return f"{boosted:.3f} vs {linear:.3f} ({boosted - linear:+.3f})"


def two_p(finding: Finding) -> bool:
    """Whether p is shown twice, of any relation and of one beyond the place in the group."""
    return isinstance(finding.score, Score) and finding.score.p_beyond_place is not None


def terminal(report: AuditReport) -> Table:
    """A row a factor: its kind below its name, the interval below the score."""
    scores = [f.score for f in report.findings if isinstance(f.score, Score)]
    most = max(scores, key=lambda score: score.rows).rows_shown if scores else f"{report.rows:,} rows"
    title = f"Factors in {escape(report.name)}, {most}, held out"
    probed = any(f.probe for f in report.findings)
    said = ["boosted vs linear: gradient boosting and the linear map on the same held-out rows"] if probed else []
    said += [TWO_P] if any(two_p(f) for f in report.findings) else []
    table = Table(title=title, caption="; ".join(said) or None)
    for head in ("factor", "linear score", "chance", "p", *(["boosted vs linear"] if probed else []), "state"):
        table.add_column(head, justify="left" if head in ("factor", "state") else "right")
    for finding in report.findings:
        name, kind, measure, *numbers, state = map(escape, cells(finding))
        score, span, null, p, _ = numbers
        short = "acc." if finding.levels else measure
        table.add_row(
            f"{name}\n[dim]{kind}[/]",
            f"{short} {score}\n[dim]{span}[/]",
            null,
            p,
            *(
                ["\n".join(probes(finding)).replace(" (", "\n(").replace("fifths ", "fifths\n") or "–"]
                if probed
                else []
            ),
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
    probe_heads = [f"{what} {name}" for what in ("probe", "fifths") for name in PROBE]
    heads = ["factor", "kind", "measure", "state", *FIELDS, *probe_heads, "output", "why not"]
    rows = []
    for f in report.findings:
        numbers = [""] * len(FIELDS) if isinstance(f.score, Refusal) else [getattr(f.score, name) for name in FIELDS]
        probe = ["" if one is None else getattr(one, name) for one in (f.probe, f.fifths) for name in PROBE]
        why = f.score.reason if isinstance(f.score, Refusal) else ""
        rows.append([f.name, f.kind, f.measure, f.state.value, *numbers, *probe, report.matched.get(f.name, ""), why])
    blank = [""] * (len(FIELDS) + len(probe_heads) + 1)
    rows += [[some.name, "", "", "left out", *blank, some.reason] for some in report.left]
    return sheet(heads, rows)


def latex(report: AuditReport) -> str:
    """A booktabs table."""
    return booktabs(
        "lll" + "r" * 5 + "l", [tex(h) for h in HEADS], ([tex(c) for c in cells(f)] for f in report.findings)
    )
