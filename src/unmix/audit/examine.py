"""The work of an audit: one pass for all factors that are known in the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64, Num, Shaped
from numpy import ndarray

from unmix.audit.classes import Columns
from unmix.audit.curve import learning_curves
from unmix.audit.finding import Finding, State
from unmix.audit.linear import FactorR2, Scores, Together, linear_scores
from unmix.audit.panels import panel
from unmix.audit.passes import passes
from unmix.audit.probe import Probe, fifths_probed, probed
from unmix.audit.probe_rows import ProbeRows
from unmix.audit.structure import association
from unmix.errors import InputError
from unmix.factors import Factor, Left
from unmix.measures import Recovery
from unmix.measures.evaluate import evaluate
from unmix.measures.ladder import COMPLETE
from unmix.measures.paired import Paired, pair
from unmix.measures.recovery import assembled, recovery_of
from unmix.measures.resample import WIDE, fold_mean
from unmix.measures.score import TELLING, Score
from unmix.measures.truth import FACTORS, ranks_of, truth_door
from unmix.tables import Table
from unmix.tables.spool import spool

STEP, RANKED_CELLS = 2**14, 2**23


@dataclass(frozen=True, eq=False)
class Asked:
    """How to fold, resample and permute."""

    groups: Shaped[ndarray, " n"] | None
    time: bool
    blocks: int | None
    probe: bool
    folds: int
    bootstraps: int
    permutations: int
    sample: int | None
    seed: int

    @property
    def counts(self) -> dict[str, Any]:
        return {"bootstraps": self.bootstraps, "permutations": self.permutations}

    def paired(self, table: Table, targets: Float64[ndarray, "m t"], rows: Bool[ndarray, " n"]) -> Paired:
        cut: dict[str, Any] = {"folds": self.folds, "sample": self.sample, "seed": self.seed}
        return pair(table.values, targets, names=(table.name, "the factors"), **self.together(rows), **cut)

    def together(self, rows: Bool[ndarray, " n"]) -> dict[str, Any]:
        """How these rows belong together; where a factor is known in one row of each group, they do not."""
        groups = None if self.groups is None else self.groups[rows]
        alone = groups is not None and len(np.unique(groups)) == len(groups)
        return {"groups": None if alone else groups, "time": self.time, "series": self.blocks is not None}

    def work(self, factors: Sequence[Factor], width: int) -> int:
        """About how often the work advances, of an embedding of so many columns."""
        kinds = [{f.categorical for f in some} for known in passes(factors, width) for some in known]
        return sum(self.bootstraps + len(k) * self.permutations for k in kinds) + len(factors) * self.probe

    def as_dict(self) -> dict[str, Any]:
        names = ("time", "blocks", "probe", "folds", "bootstraps", "permutations", "sample", "seed")
        return {name: getattr(self, name) for name in names} | {"groups": self.groups is not None}


@dataclass(frozen=True, eq=False)
class Part:
    """The factors of a pass, their findings, and what those stand on.

    Attributes
    ----------
    paired : of the first part with the most rows only; of thousands they would not fit in memory.
    kept, train_rows : the outputs that are not constant here, and the rows of the smallest train part.
    together : of all its numbers that are there; None where there are other parts.
    leak : by how much the scores rise with rows instead of groups held out; None without groups.
    """

    paired: Paired | None
    rows: int
    kept: Int64[ndarray, " k"]
    train_rows: int
    together: Together | None
    findings: list[Finding]
    associations: dict[str, Float64[ndarray, " k"]]
    leak: dict[str, float] | None

    def onto(self, kept: Int64[ndarray, " c"], values: Float64[ndarray, " k"]) -> Float64[ndarray, " c"]:
        """Values of this part's outputs as values of the outputs `kept`; 0 of those that are constant here."""
        found = np.zeros(1 + max(kept.max(), self.kept.max()))
        found[self.kept] = values
        return found[kept]


def examined(
    table: Table, factors: Sequence[Factor], asked: Asked, advance: Callable[[], None]
) -> tuple[list[Part], list[Left]]:
    """One part for each pass over rows in which factors are known; rows that cannot be used are left out."""
    every = passes(factors, table.values.shape[1])
    alone = len(every) == 1 and len(every[0]) == 1
    parts: list[Part] = []
    left: list[Left] = []
    most, last = 0, every[-1][-1]
    for known in every:
        rows: Table | None = None
        for some in known:
            try:
                rows = rows or rows_of(table, some[0].present)
                part = _part(rows, some, asked, alone, advance)
            except InputError as error:
                if some is last and not parts:
                    raise
                left += [Left(f.name, f"on the rows where it is known, {str(error).rstrip('.')}") for f in some]
                continue
            if part.rows > most:
                parts, most = [*(replace(p, paired=None) for p in parts), part], part.rows
            else:
                parts.append(replace(part, paired=None))
    return parts, left


def _part(some: Table, factors: Sequence[Factor], asked: Asked, alone: bool, advance: Callable[[], None]) -> Part:
    """Of the rows of the table in which these factors are known; `alone` if there are no other factors."""
    rows = factors[0].present
    targets, placed = targets_of(factors, rows)
    paired = asked.paired(some, targets, rows)
    place = {int(column): i for i, column in enumerate(paired.kept_y)}
    known = [(f, tuple(place[c] for c in columns if c in place)) for f, columns in placed]
    found = linear_scores(some, paired, known, asked.counts, alone, advance)
    scores = [found.of_factor[f.name] for f, _ in known]
    curves = learning_curves(paired, known)
    ready = asked.probe and any(isinstance(s, Score) for s in scores)
    probe_rows = ProbeRows.of(some, targets, paired, asked.permutations) if ready else None
    findings = []
    for (factor, columns), score, curve in zip(known, scores, curves, strict=True):
        probe = fifths = None
        if probe_rows is not None and isinstance(score, Score):
            why = score.not_judged
            probe = probed(probe_rows, factor, columns, why)
            fifths = None if factor.categorical or _told(score, probe) else fifths_probed(probe_rows, columns, why)
            advance()
        shown = panel(paired, factor, columns)
        about = factor.name, factor.told, factor.levels, paired.rows
        findings.append(Finding(*about, score, probe, fifths, curve, shown, factor.notes))
    pooled = paired.folds.chunks.pooled()
    associations = {f.name: association(pooled, columns) for f, columns in known}
    leak = None if asked.groups is None else _leak(some, targets, found, asked)
    shape = paired.rows, paired.kept_x, paired.train_rows
    return Part(paired, *shape, found.together, findings, associations, leak)


def _told(score: Score, probe: Probe | None) -> bool:
    """Whether a number is recovered, or is known to be there nonlinearly: then its fifths say no more."""
    return score.value >= COMPLETE or (probe is not None and probe.adds and probe.boosted >= TELLING)


def of_rows(
    table: Table, factors: Sequence[Factor], rows: Bool[ndarray, " n"]
) -> tuple[Table, Float64[ndarray, "m t"], list[tuple[Factor, Columns]]]:
    """Some rows of the embedding, the factors' targets there, and which columns of these are whose."""
    return rows_of(table, rows), *targets_of(factors, rows)


def rows_of(table: Table, rows: Bool[ndarray, " n"]) -> Table:
    """Some rows of the embedding."""
    if rows.all():
        return table
    return Table(table.name, spool(_finite(table, np.flatnonzero(rows)), table.name), table.columns)


def targets_of(
    factors: Sequence[Factor], rows: Bool[ndarray, " n"]
) -> tuple[Float64[ndarray, "m t"], list[tuple[Factor, Columns]]]:
    """The factors' targets in some rows, and which columns of these are whose."""
    ends = np.cumsum([f.targets.shape[1] for f in factors])
    placed = [(f, tuple(range(e - f.targets.shape[1], e))) for f, e in zip(factors, ends.tolist(), strict=True)]
    return np.hstack([f.targets if rows.all() else f.targets[rows] for f in factors]), placed


def _finite(table: Table, index: Int64[ndarray, " m"]) -> Iterator[Num[ndarray, "some k"]]:
    """Rows of the table, some at a time; one that is not finite is told by its number in the table."""
    for a in range(0, len(index), STEP):
        part = table.values[index[a : a + STEP]]
        bad = ~np.isfinite(part).all(1)
        if bad.any():
            row = index[a + int(bad.argmax())]
            raise InputError(f"{table.name} has NaN or infinite values in row {row}, counted from 0: remove that row.")
        yield part


def _leak(table: Table, targets: Float64[ndarray, "m t"], scores: Scores, asked: Asked) -> dict[str, float]:
    """By how much the R² of each number rises when groups are torn apart."""
    torn = pair(table.values, targets, names=(table.name, "the factors"), folds=asked.folds, seed=asked.seed)
    found = {}
    for name, score in scores.of_factor.items():
        if isinstance(score, Score) and isinstance(score.measure, FactorR2):
            measure = FactorR2(name, scores.columns[name])
            found[name] = fold_mean(measure, torn.folds, torn.folds.splits()) - score.value
    return found


def whole_of(
    table: Table, factors: Sequence[Factor], parts: Sequence[Part], asked: Asked
) -> tuple[Recovery | str, tuple[str, ...]]:
    """All numbers that are there at least in part, at once, on the rows where all are known; or why it cannot be.

    Factors that are not there would hide, in the mean over all, what a class of maps loses of the others. Where none is
    there linearly, those that the probe finds are taken, which may be monotone functions of single outputs.
    """
    known = {f.name: f for f in factors if not f.categorical}
    states = {f.name: f.state for p in parts for f in p.findings if f.name in known}
    linear = [name for name in known if states.get(name) in (State.RECOVERED, State.IN_PART)]
    numbers = [known[name] for name in linear or [n for n in known if states.get(n) is State.NONLINEAR]]
    names = tuple(f.name for f in numbers)
    columns = tuple(column for f in numbers for column in f.columns)
    if not numbers:
        return "no factor that is a number is found, even in part", ()
    if len(columns) > WIDE:
        return f"the numbers that are found, even in part, are {len(columns)}: name {WIDE} or fewer with only", ()
    rows = np.all([f.present for f in numbers], axis=0)
    width = table.values.shape[1]
    try:
        ranked = _ranked(table, numbers, rows, asked)
        for t in (p.together for p in parts):
            if t is not None and t.factors == names:
                spearman = evaluate(ranked, [FACTORS], **asked.counts)[0] if ranked is not None else None
                scores = t.affine, t.pearson, spearman, t.ladder
                return assembled(t.paired, width, *scores, columns=columns), names
        some, targets, _ = of_rows(table, numbers, rows)
        paired = asked.paired(some, targets, rows)
        return recovery_of(paired, ranked, width, columns=columns, **asked.counts), names
    except InputError as error:
        return str(error).rstrip("."), names


def _ranked(table: Table, factors: Sequence[Factor], rows: Bool[ndarray, " n"], asked: Asked) -> Paired | None:
    """The same with ranks for values, unless all rows would take too much memory."""
    if table.values.size > RANKED_CELLS:
        return None
    some, targets, _ = of_rows(table, factors, rows)
    x, together = np.asarray(some.values, np.float64), asked.together(rows)
    return truth_door(ranks_of(x), ranks_of(targets), **together, folds=asked.folds, seed=asked.seed)
