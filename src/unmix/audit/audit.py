"""The verb `audit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unmix.audit.dci import DCI
from unmix.audit.examine import Asked, examined, whole_of
from unmix.audit.inputs import inputs
from unmix.audit.report import AuditReport
from unmix.audit.structure import dependence, explained_share, matched, spectrum
from unmix.audit.trust import (
    few_missing,
    independent_factors,
    independent_rows,
    rows_against_columns,
    stated_kinds,
    varied_outputs,
)
from unmix.factors import Kind
from unmix.measures.asked import check_counts
from unmix.meter import meter


def audit(
    embedding: Any,
    factors: Any,
    *,
    kinds: Mapping[str, Kind] | None = None,
    only: Sequence[str] | None = None,
    ids: str | Sequence[Any] | None = None,
    groups: str | Any = None,
    name: str | None = None,
    probe: bool = True,
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    sample: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> AuditReport:
    """Which known variables does an embedding hold, how well on held-out rows, up to what, and in which outputs?

    Parameters
    ----------
    embedding : (n, k) table: a tensor, an array, a frame, or a file as in `compare`.
    factors : known variables of the same rows: a mapping of names to columns, a frame, an array, or a file. Numbers or
        words; gaps are allowed.
    kinds : by name, `um.factors.Continuous()`, `Ordinal()`, `Periodic(360)` or `Categorical()`; inferred otherwise.
    only : the names of the factors to ask for; all.
    ids : to join rows: the name of a column that both tables have, or a list of labels for each.
    groups : (n,) labels of rows that belong together, in the order of the embedding, or the name of a column of the
        factors. Folds, resamples and permutations keep groups whole.
    probe : whether to fit gradient boosting too, which takes most of the time.
    folds, bootstraps, permutations : of the held-out scores, the intervals and the nulls.
    sample : the most rows on which nulls are taken; 5,000 or five a column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> size, shape = rng.normal(size=1000), rng.choice(["disc", "ring"], 1000)
    >>> outputs = np.column_stack([2 * size, shape == "ring", rng.normal(size=1000)]) @ rng.normal(size=(3, 3))
    >>> report = audit(outputs, {"size": size, "shape": shape, "noise": rng.normal(size=1000)}, probe=False)
    >>> [f.state.value for f in report.findings]
    ['recovered', 'recovered', 'not found']
    """
    check_counts(bootstraps, permutations)
    given = inputs(embedding, factors, kinds, only, ids, groups, name, folds)
    asked = Asked(given.groups, probe, folds, bootstraps, permutations, sample, seed)
    with meter(asked.work(given.factors), shown=progress) as (bar, task):
        bar.update(task, description=given.table.name)
        parts, unused = examined(given.table, given.factors, asked, lambda: bar.advance(task))
        whole, together = whole_of(given.table, given.factors, parts, asked)
    largest = max(parts, key=lambda p: p.paired.rows)
    findings = tuple(f for factor in given.factors for p in parts for f in p.findings if f.name == factor.name)
    associations = largest.columns_of(parts, [f.name for f in findings])
    outputs = tuple(given.table.columns[i] for i in largest.paired.kept_x)
    importances = [f.importance for f in findings if f.importance is not None]
    pooled = largest.paired.folds.chunks.pooled()
    width = given.table.values.shape[1]
    checks = (
        rows_against_columns(min(p.paired.train_rows for p in parts), len(outputs)),
        *independent_rows(given.table, largest.paired, asked.groups is not None, largest.leak),
        independent_factors(given.factors, dependence(given.factors)),
        few_missing(given.factors),
        varied_outputs(largest.paired, width),
        stated_kinds(given.factors),
    )
    return AuditReport(
        name=given.table.name,
        rows=len(given.table),
        outputs=outputs,
        findings=findings,
        left=(*given.left, *unused),
        whole=whole,
        together=together,
        associations=associations,
        matched={findings[f].name: outputs[o] for f, o in sorted(matched(associations).items())},
        dci=DCI.of(np.stack(importances, 1)) if len(importances) == len(findings) else None,
        shares=spectrum(pooled),
        explained=explained_share(pooled),
        checks=checks,
        notes=largest.paired.notes,
        settings=asked.as_dict(),
    )
