"""The work of an audit: one pass for all factors that are known in the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Shaped
from numpy import ndarray

from unmix.audit.classes import Columns
from unmix.audit.curve import learning_curves
from unmix.audit.finding import Finding
from unmix.audit.linear import Scores, linear_scores
from unmix.audit.panels import panel
from unmix.audit.probe import ProbeRows, probed
from unmix.audit.structure import association
from unmix.errors import InputError
from unmix.factors import Factor, Left
from unmix.indeterminacy import AFFINE
from unmix.measures import Recovery
from unmix.measures.evaluate import evaluate, fold_mean
from unmix.measures.paired import Paired, pair
from unmix.measures.recovery import assembled, recovery_of
from unmix.measures.regression import UpTo
from unmix.measures.score import Refusal
from unmix.measures.truth import FACTORS, ranks_of, truth_door
from unmix.tables import Table
from unmix.tables.spool import spool

STEP, RANKED_CELLS = 2**14, 2**23


@dataclass(frozen=True, eq=False)
class Asked:
    """How to fold, resample and permute."""

    groups: Shaped[ndarray, " n"] | None
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
        groups = None if self.groups is None else self.groups[rows]
        cut: dict[str, Any] = {"folds": self.folds, "sample": self.sample, "seed": self.seed}
        return pair(table.values, targets, names=(table.name, "the factors"), groups=groups, **cut)

    def work(self, factors: Sequence[Factor]) -> int:
        """About how often the work advances."""
        kinds = {f.categorical for f in factors}
        return self.bootstraps + len(kinds) * self.permutations + len(factors) * self.probe

    def as_dict(self) -> dict[str, Any]:
        names = ("probe", "folds", "bootstraps", "permutations", "sample", "seed")
        return {name: getattr(self, name) for name in names} | {"groups": self.groups is not None}


@dataclass(frozen=True, eq=False)
class Part:
    """The factors that are known in the same rows, their findings, and what those stand on.

    `leak` is how much higher the mean score is with rows instead of groups held out; None without groups.
    """

    paired: Paired
    scores: Scores
    findings: list[Finding]
    associations: dict[str, Float64[ndarray, " k"]]
    leak: float | None

    def columns_of(self, parts: Sequence[Part], names: Sequence[str]) -> Float64[ndarray, "k d"]:
        """The associations of all parts, side by side; of outputs that vary in this one."""
        found = {}
        for part in parts:
            place = {int(c): i for i, c in enumerate(part.paired.kept_x)}
            for name, values in part.associations.items():
                found[name] = np.array([values[place[int(c)]] if int(c) in place else 0.0 for c in self.paired.kept_x])
        return np.stack([found[name] for name in names], 1)


def examined(
    table: Table, factors: Sequence[Factor], asked: Asked, advance: Callable[[], None]
) -> tuple[list[Part], list[Left]]:
    """One part for each set of rows in which factors are known; a set that cannot be used is left out."""
    patterns: dict[bytes, list[Factor]] = {}
    for factor in factors:
        patterns.setdefault(np.packbits(factor.present).tobytes(), []).append(factor)
    parts, left, why = [], [], InputError("there are no factors.")
    for some in patterns.values():
        try:
            parts.append(_part(table, some, asked, advance))
        except InputError as error:
            why = error
            left += [Left(f.name, f"on the rows where it is known, {str(error).rstrip('.')}") for f in some]
    if not parts:
        raise why
    return parts, left


def _part(table: Table, factors: Sequence[Factor], asked: Asked, advance: Callable[[], None]) -> Part:
    rows = factors[0].present
    some, targets, placed = of_rows(table, factors, rows)
    paired = asked.paired(some, targets, rows)
    place = {int(column): i for i, column in enumerate(paired.kept_y)}
    known = [(f, tuple(place[c] for c in columns if c in place)) for f, columns in placed]
    found = linear_scores(some, paired, known, asked.counts, advance)
    scores = [found.of_factor[f.name] for f, _ in known]
    curves = learning_curves(paired, known)
    ready = asked.probe and not any(isinstance(s, Refusal) for s in scores)
    probe_rows = ProbeRows.of(some, paired) if ready else None
    findings = []
    for (factor, columns), score, curve in zip(known, scores, curves, strict=True):
        probe = None
        if probe_rows is not None:
            probe = probed(probe_rows, factor, targets[probe_rows.index][:, paired.kept_y[list(columns)]])
            advance()
        shown = panel(paired, factor, columns)
        about = factor.name, factor.told, factor.levels, paired.rows
        findings.append(Finding(*about, score, probe, curve, shown, factor.notes))
    pooled = paired.folds.chunks.pooled()
    associations = {f.name: association(pooled, columns) for f, columns in known}
    return Part(paired, found, findings, associations, _leak(some, targets, paired, asked))


def of_rows(
    table: Table, factors: Sequence[Factor], rows: Bool[ndarray, " n"]
) -> tuple[Table, Float64[ndarray, "m t"], list[tuple[Factor, Columns]]]:
    """Some rows of the embedding, the factors' targets there, and which columns of these are whose."""
    some = table
    if not rows.all():
        index = np.flatnonzero(rows)
        parts = (table.values[index[a : a + STEP]] for a in range(0, len(index), STEP))
        some = Table(table.name, spool(parts, table.name), table.columns)
    targets = np.hstack([f.targets[rows] for f in factors])
    ends = np.cumsum([f.targets.shape[1] for f in factors])
    placed = [(f, tuple(range(e - f.targets.shape[1], e))) for f, e in zip(factors, ends.tolist(), strict=True)]
    return some, targets, placed


def _leak(table: Table, targets: Float64[ndarray, "m t"], paired: Paired, asked: Asked) -> float | None:
    """By how much the mean R² of the targets rises when groups are torn apart."""
    if asked.groups is None or UpTo(AFFINE).refusal(paired.train_rows, len(paired.kept_x), 1) is not None:
        return None
    torn = pair(table.values, targets, names=(table.name, "the factors"), folds=asked.folds, seed=asked.seed)
    whole, rows = (fold_mean(UpTo(AFFINE), p.folds, p.folds.splits()) for p in (paired, torn))
    return rows - whole


def whole_of(
    table: Table, factors: Sequence[Factor], parts: Sequence[Part], asked: Asked
) -> tuple[Recovery | None, tuple[str, ...]]:
    """All factors that are numbers at once, on the rows where all are known."""
    scored = {name for p in parts for name in p.scores.of_factor}
    numbers = [f for f in factors if not f.categorical and f.name in scored]
    names = tuple(f.name for f in numbers)
    if not numbers:
        return None, ()
    rows = np.all([f.present for f in numbers], axis=0)
    one = [p.scores for p in parts if set(names) <= set(p.scores.of_factor)]
    width = table.values.shape[1]
    try:
        ranked = _ranked(table, numbers, rows, asked)
        if not one:
            some, targets, _ = of_rows(table, numbers, rows)
            return recovery_of(asked.paired(some, targets, rows), ranked, width, **asked.counts), names
        s = one[0]
        assert s.numbers is not None
        assert s.affine is not None
        assert s.pearson is not None
        spearman = evaluate(ranked, [FACTORS], **asked.counts)[0] if ranked is not None else None
        return assembled(s.numbers, width, s.affine, s.pearson, spearman, s.ladder), names
    except InputError:
        return None, names


def _ranked(table: Table, factors: Sequence[Factor], rows: Bool[ndarray, " n"], asked: Asked) -> Paired | None:
    """The same with ranks for values, unless all rows would take too much memory."""
    if table.values.size > RANKED_CELLS:
        return None
    some, targets, _ = of_rows(table, factors, rows)
    groups = None if asked.groups is None else asked.groups[rows]
    x = np.asarray(some.values, np.float64)
    return truth_door(ranks_of(x), ranks_of(targets), groups=groups, folds=asked.folds, seed=asked.seed)
