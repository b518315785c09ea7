"""The verb `audit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from unmix.audit.dci import DCI
from unmix.audit.examine import Asked, Part, examined, whole_of
from unmix.audit.finding import Finding
from unmix.audit.inputs import inputs
from unmix.audit.report import AuditReport
from unmix.audit.structure import dependence_of, explained_share, matched, spectrum
from unmix.audit.trust import (
    few_missing,
    independent_factors,
    independent_rows,
    rows_against_columns,
    stated_kinds,
    varied_outputs,
)
from unmix.factors import Kind
from unmix.measures import Recovery
from unmix.measures.asked import check_counts
from unmix.meter import meter
from unmix.printable import printable


def audit(
    embedding: Any,
    factors: Any,
    *,
    kinds: Mapping[str, Kind] | None = None,
    only: Sequence[str] | None = None,
    ids: str | Sequence[Any] | None = None,
    groups: str | Any = None,
    time: bool = False,
    blocks: int | None = None,
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
    ids : to join rows: the name of a column that both tables have, or a list of labels for each. Pandas tables are
        joined by their index.
    groups : (n,) labels of rows that belong together, in the order of the embedding, or the name of a column of the
        factors. Folds and resamples keep groups whole; permutations move them and rotate the rows inside, so that rows
        of a group are best given in their order (places, trial bins, time).
    time : rows are in time: folds are consecutive rows with gaps between them, intervals are of consecutive chunks, and
        chance is of shifts in time.
    blocks : rows in time, of which so many in a row are taken as a group.
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
    given = inputs(embedding, factors, kinds, only, ids, groups, name, folds, time, blocks)
    asked = Asked(given.groups, time, blocks, bool(probe), folds, bootstraps, permutations, sample, seed)
    with meter(asked.work(given.factors, given.table.values.shape[1]), shown=progress) as (bar, task):
        bar.update(task, description=printable(given.table.name))
        parts, unused = examined(given.table, given.factors, asked, lambda: bar.advance(task))
        whole, together = whole_of(given.table, given.factors, parts, asked)
    largest = max(parts, key=lambda p: p.rows)
    paired = largest.paired
    assert paired is not None
    by_name = {f.name: (f, p) for p in parts for f in p.findings}
    findings = [by_name[factor.name] for factor in given.factors if factor.name in by_name]
    kept = largest.kept
    associations = np.stack([part.onto(kept, part.associations[f.name]) for f, part in findings], 1)
    outputs = tuple(given.table.columns[i] for i in kept)
    names = [f.name for f, _ in findings]
    alone = len(parts) == 1  # then all factors are known in the same rows, and are not too many
    leak = None if largest.leak is None else {name: rise for p in parts for name, rise in (p.leak or {}).items()}
    width = given.table.values.shape[1]
    checks = (
        rows_against_columns(min(p.train_rows for p in parts), len(outputs)),
        *independent_rows(given.table, paired, given.factors, leak),
        independent_factors(given.factors, dependence_of(given.factors)),
        few_missing(given.factors),
        varied_outputs(paired, width),
        stated_kinds(given.factors),
    )
    return AuditReport(
        name=given.table.name,
        rows=len(given.table),
        outputs=outputs,
        findings=tuple(f for f, _ in findings),
        left=(*given.left, *unused),
        whole=whole if isinstance(whole, Recovery) else None,
        together=together,
        associations=associations,
        matched={names[f]: outputs[o] for f, o in sorted(matched(associations).items())},
        dci=_dci(findings, kept),
        shares=spectrum(paired.folds.chunks.pooled()),
        explained=explained_share(paired.folds) if alone else None,
        checks=checks,
        notes=(
            *given.notes,
            *paired.notes,
            *([f"not scored together: {whole}"] if isinstance(whole, str) else []),
        ),
        settings=asked.as_dict(),
    )


def _dci(findings: Sequence[tuple[Finding, Part]], kept: Int64[ndarray, " k"]) -> DCI | None:
    """Of the factors that were probed; of one factor or one output it would be 1 whatever it is."""
    probed = [(f, part) for f, part in findings if f.probe is not None]
    if len(probed) < 2 or len(kept) < 2:
        return None
    table = np.zeros((len(kept), len(findings)))
    for i, (f, part) in enumerate(findings):
        if f.importance is not None:
            table[:, i] = part.onto(kept, f.importance)
    return DCI.of(table, float(np.mean([f.informativeness for f, _ in probed])))
