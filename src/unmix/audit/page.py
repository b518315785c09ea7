"""An audit as a self-contained HTML page."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING

from unmix.audit import export, pictures
from unmix.audit.finding import State
from unmix.audit.probe import Probe
from unmix.audit.probe_rows import FEW, MOST_ROWS
from unmix.audit.words import verdict
from unmix.measures.digits import number
from unmix.measures.ladder import COMPLETE
from unmix.measures.names import in_a_row
from unmix.measures.score import TWO_P
from unmix.measures.words import made_by
from unmix.report import Code, Grid, Page, Part, Spot, Text, rendered

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

TONES = {State.RECOVERED: "reached", State.IN_PART: "near", State.NONLINEAR: "near", State.WEAK: "below"}
TONES[State.ABSENT] = "below"
ASSUMES = {
    "R²": "R² = 1 − SSE/SST on held-out rows, never clipped. It can be trusted if rows of different folds are "
    "independent, and it means “recovered” only for what is linear in the outputs.",
    "balanced accuracy": "Balanced accuracy: the mean over classes of the share of held-out rows that linear "
    "discriminant analysis names rightly; with c classes chance is about 1/c, or more with few groups. Its interval is "
    "of the held-out rows, the fits as they are. It can be trusted if rows of different folds are independent, and it "
    "is the best that a linear boundary can do if the spread within every class is alike.",
}


def html(report: AuditReport) -> str:
    """The verdict and what fails; factors; the whole; outputs; rows; assumptions; how it was made."""
    sections: list[tuple[str, tuple[Part, ...]]] = [
        ("Verdict", _verdict(report)),
        ("Each factor", (pictures.bars(report), _factors(report), _measures(report))),
        ("True against recovered", (pictures.true_against_recovered(report),)),
    ]
    if report.whole is not None:
        sections.append(("All numbers at once: up to which class of maps", _whole(report)))
    sections += [
        ("Which output carries which factor", (pictures.heat_map(report), *_outputs(report))),
        ("Would more rows help?", (pictures.curves(report),)),
        ("The outputs", (pictures.spectrum(report),)),
        ("What the numbers assume", (_assumptions(report),)),
        ("To cite", (Code(report.cite()),)),
    ]
    lead = (
        f"{report.rows:,} rows, {len(report.outputs)} outputs, {len(report.findings)} factors. Every score is held out."
    )
    foot = (made_by(report.settings), f"Made by unmix {version('unmix')} on {date.today().isoformat()}.")
    return rendered(Page(f"Audit of {report.name}", lead, tuple(sections), foot))


def _verdict(report: AuditReport) -> tuple[Part, ...]:
    parts: list[Part] = [Text((*report.context, *verdict(report)))]
    if report.warnings:
        parts.append(Text(report.warnings, tone="warning"))
    left = tuple(f"{some.name} was left out: {some.reason}." for some in report.left)
    notes = tuple(f"Note: {note}." for note in report.notes)
    return (*parts, *((Text((*left, *notes)),) if left or notes else ()))


def _factors(report: AuditReport) -> Grid:
    rows = []
    for f in report.findings:
        name, *spots, _, state = export.cells(f)
        about = Spot(name, f.notes), Spot(state, tone=TONES.get(f.state, ""))
        rows.append((*about, *map(Spot, spots), _probe(f.probe), _probe(f.fifths)))
    heads = ("factor", "state", *export.HEADS[1:-1], "fifths, boosted vs linear")
    few = f"each of {report.settings['folds']} folds held out in turn"
    two = any(export.two_p(f) for f in report.findings)
    caption = (
        "linear: the held-out score of a linear map. boosted vs linear: gradient boosting and the linear map, both "
        f"fitted on the same rows and scored on the same others, one split of at most {MOST_ROWS:,} rows, or {few} "
        f"where there are fewer than {FEW:,} rows or groups; below, the interval of the difference, of these rows with "
        "both fits as they are, and chance and p of boosting. fifths: of a number that neither recovers, how often "
        "each says rightly which fifth of its values a row is in. A factor is “recovered” from 0.95 on (of classes: "
        "0.95 of the way from chance to 1), “in part” from 0.1, “not linearly” where boosting alone is above chance "
        "and finds 0.1; less, but above chance, is “hardly”."
        + (f" {TWO_P[:1].upper()}{TWO_P[1:]}, which outputs and factor both follow." if two else "")
    )
    return Grid(caption, heads, tuple(rows))


def _probe(probe: Probe | None) -> Spot:
    if probe is None:
        return Spot("–")
    spread = f"difference {probe.low:+.3f} … {probe.high:+.3f}"
    return Spot(export.pair(probe), (spread, probe.chance_shown))


def _measures(report: AuditReport) -> Text:
    return Text(tuple(text for name, text in ASSUMES.items() if any(f.measure == name for f in report.findings)))


def _whole(report: AuditReport) -> tuple[Part, ...]:
    whole = report.whole
    assert whole is not None
    named = {c: f"named: loses at most {number(max(loss, 0.0))}" for c, loss in whole.ladder.named.items()}
    rows = tuple(
        (Spot(str(s.up_to)), Spot(number(s.r2)), Spot(f"{number(s.interval[0])} … {number(s.interval[1])}"),
         Spot(named.get(s.up_to, ""), tone="reached" if s.up_to in named else ""))
        for s in whole.steps
    )  # fmt: skip
    ranks = f" (of ranks {number(whole.mcc_spearman)})" if whole.mcc_spearman is not None else ""
    caption = (
        f"Held-out R² of {in_a_row(report.together)} together, when the map from the outputs must be of a class. A "
        f"class is named if affine maps reach {COMPLETE:g} in every direction of the factors, and the class loses at "
        f"most {whole.tolerance:g} beside them in every direction. MCC {number(whole.mcc_pearson)}{ranks}, at chance "
        f"{whole.pearson.null_shown}."
    )
    return (Text((whole.verdict,)), Grid(caption, ("up to", "R²", "95 % interval", ""), rows))


def _outputs(report: AuditReport) -> tuple[Part, ...]:
    place = {f.name: i for i, f in enumerate(report.findings)}
    rows = []
    for factor, output in report.matched.items():
        row, column = report.outputs.index(output), place[factor]
        about = Spot(factor), Spot(output), Spot(number(report.associations[row, column]))
        focus = number(report.dci.of_factor[column]) if report.dci else "–"
        rows.append((*about, Spot(focus)))
    caption = (
        "Outputs matched one to one. Correlation: of a number Pearson’s, of an angle with cosine and sine together, of "
        "classes the correlation ratio; on all rows. Completeness: 1 if the probe needs one output only."
    )
    grid = Grid(caption, ("factor", "output", "correlation", "completeness"), tuple(rows))
    if report.dci is None:
        return (grid,)
    by_linear = [f.name for f in report.findings if f.probe is not None and f.probe.better == "linear"]
    said = (
        f"Disentanglement {number(report.dci.disentanglement)} (1: every output serves one factor), completeness "
        f"{number(report.dci.completeness)} (1: every factor lives in one output), informativeness "
        f"{number(report.dci.informativeness)} (1: every factor is predicted). Importance is what the better of "
        "boosting and the linear map, or boosting of fifths where only these show a factor, loses on held-out rows "
        f"when one output is permuted; the linear map is better for {in_a_row(by_linear) or 'none'}. Importance can "
        "be trusted if outputs are not copies of one another, which would share it."
    )
    return (Text((said,)), grid)


def _assumptions(report: AuditReport) -> Grid:
    marks = {True: ("holds", "reached"), False: ("fails", "below"), None: ("cannot be told", "near")}
    rows = tuple(
        (Spot(c.assumption), Spot(marks[c.holds][0], tone=marks[c.holds][1]), Spot(c.evidence), Spot(c.remedy))
        for c in report.checks
    )
    return Grid(
        "What must be so for the numbers above to mean what they say.", ("assumption", "", "seen", "if not"), rows
    )
