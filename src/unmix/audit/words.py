"""The verdict of an audit, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmix.audit.finding import RISING, Finding, State
from unmix.measures.score import Score

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

FOCUSED, SPREAD, MOST_NAMES = 0.7, 0.3, 8


def verdict(report: AuditReport) -> tuple[str, ...]:
    """Sentences: what is recovered, what in part, what only nonlinearly, what is not there; up to what; where; rows."""
    found = report.findings
    some = {state: [f for f in found if f.state is state] for state in State}
    said = []
    if some[State.RECOVERED]:
        said.append(f"Linearly recovered: {_listed(some[State.RECOVERED])}.")
    if some[State.IN_PART]:
        said.append(f"Linearly recovered in part: {_listed(some[State.IN_PART])}.")
    if some[State.NONLINEAR]:
        said.append(f"There, but not linearly: {_listed(some[State.NONLINEAR], boosted=True)}.")
    if some[State.WEAK]:
        said.append(f"Above chance, but hardly there: {_listed(some[State.WEAK])}.")
    if some[State.ABSENT]:
        probed = " by a linear map or by gradient boosting" if any(f.probe for f in found) else " by a linear map"
        said.append(f"Not found{probed}: {_listed(some[State.ABSENT])}.")
    if some[State.REFUSED]:
        said.append(f"Not scored: {_and([f.name for f in some[State.REFUSED]])}.")
    said += _nonlinear(some[State.IN_PART])
    said += _worse(found)
    said += _as_a_whole(report)
    said += _outputs(report)
    rising = [f.name for f in found if f.rising]
    if rising:
        what = "groups" if report.settings["groups"] else "rows"
        said.append(f"More {what} would help: the scores of {_and(rising)} still rise with the number of {what}.")
    return tuple(said)


def _listed(findings: Sequence[Finding], boosted: bool = False) -> str:
    parts = []
    for f in findings:
        value = f.score.value if isinstance(f.score, Score) else 0.0
        numbers = f"{f.measure} {value:.2f}".replace("-0.00", "0.00")
        if isinstance(f.score, Score) and f.score.caveat and f.state is not State.ABSENT:
            numbers += f", {f.score.caveat}"
        if boosted:
            numbers = f"linear {numbers}, {_boosted(f)}"
        parts.append(f"{f.name} ({numbers})")
    return _and(parts)


def _boosted(finding: Finding) -> str:
    """What boosting finds more of than the linear map, of the factor itself or of its fifths."""
    probe = finding.nonlinear
    if probe is None:
        return ""
    fifths = f"accuracy for which of {probe.classes} ranges it is in"
    what = fifths if probe is finding.fifths else finding.measure
    return f"boosted {what} {probe.boosted:.2f} [{probe.boosted_low:.2f}, {probe.boosted_high:.2f}], " + (
        f"linear {probe.linear:.2f} on the same rows, chance {probe.null:.2f}"
    )


def _nonlinear(in_part: Sequence[Finding]) -> list[str]:
    more = [f"{f.name} ({_boosted(f)})" for f in in_part if f.nonlinear is not None and f.nonlinear.gain > RISING]
    if not more:
        return []
    return [f"A nonlinear probe finds more of {_and(more)}: it is in the embedding, but not as a linear direction."]


def _worse(found: Sequence[Finding]) -> list[str]:
    """Where boosting is worse by more than a rounding: its trees are coarse, or rows are few."""
    listed = [
        f"{f.name} ({f.measure} {f.probe.boosted:.2f} against {f.probe.linear:.2f} on the same rows)"
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
    whole = report.whole
    if whole is None or len(report.together) < 2:
        return []
    if not whole.minimal:
        return [f"Together, {_and(report.together)} are recovered too little to name a class of maps."]
    classes = " or ".join(str(c) for c in whole.minimal)
    share = f"held-out affine R² {whole.affine.value:.2f}"
    return [f"Together, {_and(report.together)} are recovered up to maps of the class {classes} ({share})."]


def _outputs(report: AuditReport) -> list[str]:
    dci = report.dci
    if dci is None or dci.importance.sum() < RISING:
        return []
    numbers = f"disentanglement {dci.disentanglement:.2f}, completeness {dci.completeness:.2f}"
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
        return f"{', '.join(parts[:MOST_NAMES])} and {len(parts) - MOST_NAMES} more"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
