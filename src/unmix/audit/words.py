"""The verdict of an audit, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmix.audit.finding import RISING, Finding, State
from unmix.measures.digits import number
from unmix.measures.score import Score
from unmix.measures.words import monotone_named

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

FOCUSED, SPREAD, MOST_NAMES = 0.7, 0.3, 8


def verdict(report: AuditReport) -> tuple[str, ...]:
    """Sentences: what is recovered, what in part, what only nonlinearly, what is not shown; up to what; where; rows.

    Each can be quoted: scores come with interval, chance, p, and the rows that they were taken on.
    """
    found = report.findings
    some = {state: [f for f in found if f.state is state] for state in State}
    said = _group("Linearly recovered", some[State.RECOVERED])
    judged, unjudged = ([f for f in some[State.IN_PART] if _judged(f) is known] for known in (True, False))
    said += _group("Linearly recovered in part", judged)
    said += _group("Perhaps linearly recovered in part", unjudged)
    said += _group("There, but not linearly", some[State.NONLINEAR], boosted=True)
    said += _group("Above chance, but hardly there", some[State.WEAK])
    said += _not_shown(some[State.ABSENT])
    if some[State.REFUSED]:
        said.append(f"Not scored: {_and([f.name for f in some[State.REFUSED]])}.")
    said += _nonlinear(some[State.IN_PART])
    said += _worse(found)
    said += _as_a_whole(report)
    said += _outputs(report)
    rising = [f.name for f in found if f.rising]
    if rising:
        what = "groups" if report.settings["groups"] else "rows"
        said.append(f"More {what} may help: the scores of {_and(rising)} still rise with the number of {what}.")
    return tuple(said)


def _group(said: str, findings: Sequence[Finding], boosted: bool = False) -> list[str]:
    """Such as "Linearly recovered in part (500 rows, held out): speed (R² 0.531 [0.470, 0.592], …)."."""
    listed = [(where, _and([_listed(f, boosted) for f in part])) for where, part in _by_rows(findings)]
    return [f"{said} ({where}, held out): {factors}." for where, factors in listed]


def _judged(finding: Finding) -> bool:
    """Whether chance could be judged."""
    return isinstance(finding.score, Score) and finding.score.p_value is not None


def _not_shown(findings: Sequence[Finding]) -> list[str]:
    """Of what is not above chance: nothing says that it is not there."""
    said = []
    for where, part in _by_rows(findings):
        probed = " by a linear map or by gradient boosting" if any(f.probe for f in part) else " by a linear map"
        said.append(f"Not shown{probed} with {where}: {_and([_listed(f) for f in part])}.")
    return said


def _by_rows(findings: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    """The findings of each number of rows."""
    found: dict[str, list[Finding]] = {}
    for f in findings:
        assert isinstance(f.score, Score)
        found.setdefault(f.score.rows_shown, []).append(f)
    return list(found.items())


def _listed(finding: Finding, boosted: bool = False) -> str:
    numbers = f"{finding.measure} {finding.score}"
    if isinstance(finding.score, Score) and _judged(finding) and finding.score.caveat:
        numbers += f", {finding.score.caveat}"
    if boosted:
        numbers = f"{_boosted(finding)}; linear {numbers}"
    return f"{finding.name} ({numbers})"


def _boosted(finding: Finding) -> str:
    """What boosting finds more of than the linear map, of the factor itself or of its fifths."""
    probe = finding.nonlinear
    if probe is None:
        return ""
    fifths = f"accuracy for which of {probe.classes} ranges it is in"
    what = fifths if probe is finding.fifths else finding.measure
    span = f"[{number(probe.boosted_low)}, {number(probe.boosted_high)}]"
    return (
        f"boosted {what} {number(probe.boosted)} {span}, {probe.chance_shown}, linear {number(probe.linear)} on the "
        "same rows"
    )


def _nonlinear(in_part: Sequence[Finding]) -> list[str]:
    more = [f"{f.name} ({_boosted(f)})" for f in in_part if f.nonlinear is not None and f.nonlinear.gain > RISING]
    return [f"A nonlinear probe finds more of {_and(more)}: a part is not linear in the outputs."] if more else []


def _worse(found: Sequence[Finding]) -> list[str]:
    """Where boosting is worse by more than a rounding: its trees are coarse, or rows are few."""
    listed = [
        f"{f.name} ({f.measure} {number(f.probe.boosted)} against {number(f.probe.linear)} on the same rows)"
        for f in found
        if f.probe is not None
        and f.probe.worse
        and f.probe.gain < -RISING
        and f.state in (State.RECOVERED, State.IN_PART)
    ]
    if not listed:
        return []
    return [f"Boosting predicts {_and(listed)} worse than the linear map, which is used to judge the outputs there."]


def _as_a_whole(report: AuditReport) -> list[str]:
    """The verdict of the recovery of all numbers at once, by the rule that every verb follows."""
    if report.whole is None:
        return []
    if len(report.together) < 2:
        said = monotone_named(report.whole.monotone, report.together[0], "output")
        return [said] if said else []
    said = report.whole.verdict
    return [f"Taken together ({_and(report.together)}), {said[:1].lower()}{said[1:]}"]


def _outputs(report: AuditReport) -> list[str]:
    dci = report.dci
    if dci is None or dci.importance.sum() < RISING:
        return []
    numbers = f"disentanglement {number(dci.disentanglement)}, completeness {number(dci.completeness)}"
    if min(dci.disentanglement, dci.completeness) >= FOCUSED:
        return [f"Single outputs stand for single factors ({numbers})."]
    if dci.disentanglement >= FOCUSED:
        return [f"An output serves one factor, but a factor is spread over several outputs ({numbers})."]
    if max(dci.disentanglement, dci.completeness) < SPREAD:
        return [f"Factors are spread over all outputs: do not read single outputs ({numbers})."]
    return [f"Outputs mix factors in part ({numbers})."]


def _and(parts: Sequence[str]) -> str:
    """In words, at most eight of them."""
    if len(parts) > MOST_NAMES:
        return f"{'; '.join(parts[:MOST_NAMES])}; and {len(parts) - MOST_NAMES} more"
    mark = "; " if any("," in part for part in parts) else ", "
    return parts[0] if len(parts) == 1 else f"{mark.join(parts[:-1])} and {parts[-1]}"
