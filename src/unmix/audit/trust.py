"""The assumptions under which an audit's numbers can be trusted, each with its evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.factors import Factor
from unmix.measures.dependence import TOGETHER, tied
from unmix.measures.digits import number
from unmix.measures.names import in_a_row
from unmix.measures.paired import FEW_GROUPS, Paired
from unmix.measures.series import SerialCorrelation, drifts, leading
from unmix.tables import Table

ROWS_A_COLUMN, MISSING_SHARE, LEAK = 10, 0.2, 0.02
GROUPS = re.compile(r"subject|session|patient|participant|animal|mouse|group|recording|speaker|sentence", re.IGNORECASE)


@dataclass(frozen=True)
class Check:
    """An assumption: whether it holds (None: the table cannot tell), what shows it, and what to do if it fails."""

    assumption: str
    holds: bool | None
    evidence: str
    remedy: str

    @property
    def warning(self) -> str:
        return f"{self.evidence[:1].upper()}{self.evidence[1:]}. {self.remedy}"

    def as_dict(self) -> dict[str, Any]:
        return {"assumption": self.assumption, "holds": self.holds, "evidence": self.evidence, "remedy": self.remedy}


def rows_against_columns(train_rows: int, width: int) -> Check:
    ratio = train_rows / width
    return Check(
        "there are many rows for each output",
        ratio >= ROWS_A_COLUMN,
        f"maps were fitted on {train_rows:,} rows of {width} outputs, {ratio:.3g} rows an output",
        f"With fewer than {ROWS_A_COLUMN} a fitted map is noisy and held-out scores are too low: give more rows, or "
        "fewer outputs, such as leading principal components.",
    )


def independent_factors(factors: Sequence[Factor], dependence: Float64[ndarray, " d"] | None) -> Check:
    if dependence is None:
        why = "there is one factor" if len(factors) < 2 else "too few rows have every factor"
        return Check("factors do not depend on one another", None, f"cannot be told: {why}", TOGETHER)
    said = tied([f.name for f in factors], dependence)
    unsaid = f"R² of each from the others ≤ {number(max(dependence))}"
    return Check("factors do not depend on one another", not said, said or unsaid, TOGETHER)


def independent_rows(
    table: Table, paired: Paired, factors: Sequence[Factor], leak: Mapping[str, float] | None
) -> list[Check]:
    """Folds, intervals and nulls stand on rows, or groups, that are independent; `leak` is given with groups."""
    found = [
        Check(
            "no row is there twice",
            not paired.copies,
            f"{paired.copies:,} of {paired.rows:,} rows are copies of others"
            if paired.copies
            else "no row is a copy of a row in another fold",
            "A copy that is held out has been seen, so scores are too good: remove the copies, or give them one group.",
        )
    ]
    if paired.gap is not None:
        return [*found, _in_time(paired)]
    return [*found, *(_alone(table, factors) if leak is None else _grouped(paired, factors, leak))]


def _in_time(paired: Paired) -> Check:
    assert paired.gap is not None
    between = int(paired.gap.sum()) // (paired.folds.count - 1)
    steady = not drifts(leading(paired.sample.x))
    return Check(
        "the embedding does not drift in time",
        steady,
        f"folds are consecutive rows, {between:,} row{'s' * (between != 1)} apart; "
        + ("no drift of the embedding is seen" if steady else "the embedding drifts"),
        "Of a factor that drifts too, chance is not judged: take differences, remove trends, or give whole sessions as "
        "groups. Slight trends are not always seen.",
    )


def _grouped(paired: Paired, factors: Sequence[Factor], leak: Mapping[str, float]) -> list[Check]:
    count = int(paired.group.max()) + 1
    fixed = [f.name for f in factors if _fixed(f, paired.group)] if len(paired.group) == len(factors[0].present) else []
    higher = in_a_row([f"{name} by {number(rise)}" for name, rise in leak.items() if rise > LEAK])
    return [
        Check(
            "groups are many",
            count >= FEW_GROUPS,
            f"there are {count} groups",
            "With few, intervals are rough, and random pairings leave some groups in place, so that chance looks "
            "higher than it is.",
        ),
        Check(
            "factors vary within groups",
            not fixed,
            f"the same in all rows of a group: {in_a_row(fixed)}" if fixed else "they do",
            f"Such a factor has {count} values, not {paired.rows:,}: more groups would help, more rows would not.",
        ),
        Check(
            "groups are kept whole",
            True,
            f"they are; with rows held out instead, scores would be higher: {higher}"
            if higher
            else "they are; with rows held out instead, scores would be about the same",
            "",
        ),
    ]


def _alone(table: Table, factors: Sequence[Factor]) -> list[Check]:
    """Rows that are alike in the embedding and in a factor; in one of the two alone, nothing is wrong."""
    of_outputs = SerialCorrelation.of(table.values)
    # Of the rows that have a factor, as if nothing lay between them.
    of_factors = {f.name: SerialCorrelation.of(f.targets[f.present]) for f in factors}
    most = max(of_factors, key=lambda name: of_factors[name].likeness)
    alike = of_outputs.alike and any(some.alike for some in of_factors.values())
    named = [f.name for f in factors if GROUPS.search(f.name)]
    hint = f" ({in_a_row(named)} may name them)" if named else ""
    return [
        Check(
            "rows are independent",
            not alike,
            f"neighbouring rows correlate by {number(of_outputs.likeness)} in the embedding and by "
            f"{number(of_factors[most].likeness)} in {most}"
            + (": they may be sorted, or recorded in time or from the same subjects" if alike else ""),
            "If rows are in time, say so with time (--time); if they belong together (a recording, a subject, a "
            f"sentence), with groups{hint}: without, scores are too good and intervals too narrow. If the file is only "
            "sorted, nothing is wrong.",
        )
    ]


def _fixed(factor: Factor, group: Int64[ndarray, " n"]) -> bool:
    """Whether a factor is the same in all rows of every group, and some group has more than one row."""
    there = factor.present
    values, member = factor.targets[there], group[there]
    order = np.argsort(member, kind="stable")
    same = member[order][1:] == member[order][:-1]
    return bool(same.any() and (values[order][1:] == values[order][:-1]).all(1)[same].all())


def few_missing(factors: Sequence[Factor]) -> Check:
    shares = {f.name: 1 - f.present.mean() for f in factors}
    gaps = [f"{name} ({100 * share:.0f} %)" for name, share in shares.items() if share > MISSING_SHARE]
    most = max(shares.values())
    return Check(
        "values are not missing for a reason",
        not gaps,
        f"missing in many rows: {in_a_row(gaps)}" if gaps else f"at most {100 * most:.0f} % are missing",
        "A factor is scored on the rows where it is known: if those are special, so is the score.",
    )


def stated_kinds(factors: Sequence[Factor]) -> Check:
    guessed = [f"{f.name} ({f.kind})" for f in factors if not f.stated]
    return Check(
        "kinds are right",
        None if guessed else True,
        f"guessed from the values: {in_a_row(guessed)}" if guessed else "all were stated",
        "A code read as a number, or an angle read as a length, is scored wrongly: state the kind where the guess is "
        "wrong.",
    )


def varied_outputs(paired: Paired, width: int) -> Check:
    dropped = width - len(paired.kept_x)
    said = [f"{dropped} of {width} outputs {'is' if dropped == 1 else 'are'} constant"] if dropped else []
    repeats = len(paired.repeated[0])
    said += (
        [f"{repeats} output{' repeats' if repeats == 1 else 's repeat'} another, up to scale and offset"]
        if repeats
        else []
    )
    return Check(
        "every output varies on its own",
        not said,
        "; ".join(said) or "no output is constant or repeats another",
        "Constant outputs were left out; repeated ones share their importance: look for a collapsed or padded layer.",
    )
