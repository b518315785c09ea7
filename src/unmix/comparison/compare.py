"""The verb `compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from unmix.comparison.comparison import Comparison, Pair
from unmix.comparison.store import PairStore
from unmix.errors import require
from unmix.indeterminacy import GeneralisedPermutation
from unmix.measures.asked import check_counts, check_measures, work
from unmix.measures.cca import CCA
from unmix.measures.cka import CKA
from unmix.measures.evaluate import evaluate
from unmix.measures.geometry import RSA
from unmix.measures.ladder import Ladder, climbed
from unmix.measures.matching import MCC
from unmix.measures.measure import Measure
from unmix.measures.monotone import may_be_monotone, monotone_r2
from unmix.measures.neighbours import Neighbours
from unmix.measures.paired import Paired, pair, require_in_time
from unmix.measures.procrustes import Procrustes
from unmix.measures.regression import R2
from unmix.measures.resample import Advance
from unmix.measures.score import Refusal, Score
from unmix.meter import meter
from unmix.printable import printable
from unmix.tables import Table, in_one_order, joined, matching, read, require_agreement, require_no_ids
from unmix.tables.foreign import known
from unmix.tables.labels import labels_of

DEFAULT: tuple[Measure, ...] = (R2(), R2(reverse=True), CCA(), Procrustes(), CKA(), MCC(), RSA(), Neighbours())


def compare(
    *representations: Any,
    names: Sequence[str] | None = None,
    measures: Sequence[Measure] = DEFAULT,
    ids: str | Sequence[Any] | None = None,
    groups: str | Any = None,
    time: bool = False,
    blocks: int | None = None,
    folds: int = 5,
    bootstraps: int = 200,
    permutations: int = 199,
    sample: int | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare two or more representations of the same rows: every pair by every measure.

    Parameters
    ----------
    representations : tables (n, k): tensors, arrays, frames, iterators of batches, or files; or one mapping of
        names to tables. Widths may differ.
    measures : objects of `um.measures`.
    ids : to join rows: the name of a column that each table has, or a list of labels for each table. Tables with
        different ids are refused. Pandas tables are joined by their index.
    groups : (n,) labels of rows that belong together (sentences, subjects, sessions), in the order of the first
        table, or the name of a column of it. Folds and resamples keep groups whole; permutations move them and rotate
        the rows inside, so that rows of a group are best given in their order (places, trial bins, time).
    time : rows are in time: folds are consecutive rows with gaps between them, intervals are of consecutive chunks, and
        chance is of shifts in time.
    blocks : rows in time, of which so many in a row are taken as a group.
    folds, bootstraps, permutations : of the held-out scores, the intervals and the nulls.
    sample : the most rows on which nulls, and measures that need rows, are taken; 5,000 or five a column.
    folder : keep each finished pair there; the same call again goes on where it was.
    progress : show a bar on the error stream.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=(1000, 3))
    >>> print(compare(a, 2 * a @ np.linalg.qr(rng.normal(size=(3, 3)))[0], names=["a", "b"]).verdict[:58])
    a and b are the same up to a map of the class scaled ortho
    """
    given: Sequence[Any] = representations
    if len(representations) == 1 and isinstance(representations[0], Mapping):
        require(names is None, "the mapping names its tables already: leave out names.")
        names, given = list(map(str, representations[0])), tuple(representations[0].values())
    require(len(given) >= 2, "compare needs two or more representations of the same rows.")
    in_time = time or blocks is not None
    given, groups, notes = _by_index(given, names, ids, groups, in_time)
    tables = tables_of(given, names, ids, groups)
    labels = _groups(groups, tables[0])
    tables = _aligned(tables, ids, given, in_time)
    titles = tuple(t.name for t in tables)
    check_measures(measures)
    asked = tuple(measures)
    check_counts(bootstraps, permutations)
    couples = list(combinations(tables, 2))
    counts = {"bootstraps": bootstraps, "permutations": permutations}
    cut: dict[str, Any] = {"time": time, "blocks": blocks, "folds": folds, "sample": sample, "seed": seed}
    settings = {**cut, **counts, "groups": labels is not None}
    store = PairStore.at(folder, asked, settings, labels)
    pairs = []
    with meter(len(couples) * work(asked, **counts), shown=progress) as (bar, task):
        for x, y in couples:
            bar.update(task, description=printable(f"{x.name}, {y.name}"))
            found = measured(x, y, store, lambda: bar.advance(task), groups=labels, **cut, **counts)
            joins = [note for name, note in notes.items() if name in (x.name, y.name, "groups")]
            pairs.append(replace(found, notes=(*joins, *found.notes)))
            bar.update(task, completed=len(pairs) * work(asked, **counts))
    return Comparison(titles, asked, tuple(pairs), settings)


def measured(
    x: Table, y: Table, store: PairStore, advance: Advance, *, bootstraps: int, permutations: int, **cut: Any
) -> Pair:
    """The pair as it is kept in the store, or measured and then kept."""
    path = store.path(x, y)
    found = store.kept(path)
    if found is None:
        paired = pair(x.values, y.values, names=(x.name, y.name), **cut)
        scores = tuple(
            evaluate(paired, store.measures, bootstraps=bootstraps, permutations=permutations, advance=advance)
        )
        widths = x.values.shape[1], y.values.shape[1]
        notes = paired.seen((x.name, y.name))
        ladder, back = _ladder(paired, scores), _ladder(paired, scores, reverse=True)
        found = Pair(x.name, y.name, widths, paired.rows, scores, ladder, notes, back, _monotone(paired, ladder))
        store.keep(path, found)
    return found


def tables_of(sources: Sequence[Any], names: Sequence[str] | None, ids: Any = None, groups: Any = None) -> list[Table]:
    """Read the tables, with unlike names: ids are columns of each if named, groups a column of the first.

    Where other tables have the column of groups too, it is no output there either.
    """
    require(
        names is None or len(names) == len(sources),
        f"there are {len(names or ())} names for {len(sources)} representations: give one each.",
    )
    found: list[Table] = []
    for i, source in enumerate(sources):
        named = isinstance(source, (str, Path, Table))  # a file's name, or the table's own
        default = _file_name(source, sources) if named else f"representation {i + 1}"
        wanted = [label for label in (ids, groups if i == 0 else None) if isinstance(label, str)]
        table = read(source, names[i] if names else default, labels=wanted)
        if i > 0 and isinstance(groups, str) and groups in table.columns:  # the same labels again, and no output
            table = read(source, table.name, labels=[*wanted, groups])
        missing = [label for label in wanted if label not in table.labels]
        require(
            not missing,
            f"{table.name} has no named columns: give {' and '.join(missing)} as labels, one a row, not as a name.",
        )
        taken = {t.name for t in found}
        name, again = table.name, 2
        while name in taken:
            name, again = f"{table.name} ({again})", again + 1
        found.append(Table(name, table.values, table.columns, table.labels))
    return found


def _file_name(source: Any, sources: Sequence[Any]) -> str | None:
    """Of files of one name, the folder tells which is which; None leaves the name to the file."""
    places = [Path(str(s).partition("::")[0]) for s in sources if isinstance(s, (str, Path))]
    if isinstance(source, Table):
        return None
    path, _, member = str(source).partition("::")
    alike = {place.parent.name for place in places if place.stem == Path(path).stem}
    return f"{Path(path).parent.name}/{member or Path(path).stem}" if len(alike) > 1 else None


def _groups(groups: Any, first: Table) -> Any:
    if groups is None or isinstance(groups, str):
        return groups if groups is None else first.labels[groups]
    return labels_of(groups, "groups")


def _by_index(
    sources: Sequence[Any], names: Sequence[str] | None, ids: Any, groups: Any, time: bool
) -> tuple[Sequence[Any], Any, dict[str, str]]:
    """Tables and groups in the order of the first, by index, unless ids join the tables; and a note of each."""
    titles = [str(name) for name in names or [f"representation {i + 1}" for i in range(len(sources))]]
    if len(titles) != len(sources):
        return sources, groups, {}  # refused when they are read
    sources = [known(source, title) for source, title in zip(sources, titles, strict=True)]
    joined = 1 if ids is not None else len(sources)
    if ids is None:
        require_no_ids(sources, titles, "give ids= its name to join by it, or leave it out of both")
    (*first, groups), notes = in_one_order([*sources[:joined], groups], [*titles[:joined], "groups"], time)
    return (*first, *sources[joined:]), groups, notes


def _aligned(tables: list[Table], ids: str | Sequence[Any] | None, sources: Sequence[Any], time: bool) -> list[Table]:
    if ids is None:
        return tables
    labels = [t.labels[ids] for t in tables] if isinstance(ids, str) else list(ids)
    require(
        len(labels) == len(tables), f"there are {len(labels)} lists of ids for {len(tables)} tables: give one each."
    )
    for table, label in zip(tables, labels, strict=True):
        require(
            len(label) == len(table), f"{table.name} has {len(table)} rows and {len(label)} ids: give one id a row."
        )
    orders = matching(labels, [t.name for t in tables])
    for table, order in zip(tables, orders, strict=True):
        require_in_time(order, (tables[0].name, table.name), time)
    require_agreement(sources, orders, [t.name for t in tables])
    return [joined(table, order) for table, order in zip(tables, orders, strict=True)]


def _monotone(paired: Paired, ladder: Ladder | None) -> tuple[float | None, float | None]:
    """R² of the ranks of y, and of x, by monotone functions of single columns; see `Pair`."""
    if ladder is None or any(c <= GeneralisedPermutation(offset=True) for c in ladder.named):
        return None, None
    forth, back = paired.sample, replace(paired.sample, x=paired.sample.y, y=paired.sample.x)
    return tuple(monotone_r2(way) if may_be_monotone(way) else None for way in (forth, back))  # type: ignore[return-value]


def _ladder(paired: Paired, scores: Sequence[Score | Refusal], reverse: bool = False) -> Ladder | None:
    """The classes of maps from x to y, none where affine maps are not above chance; none is named of x from y."""
    affine = [s for s in scores if isinstance(s, Score) and s.measure == R2(reverse=reverse)]
    if not affine:
        return None
    return climbed(paired.folds, affine[0].value, told=affine[0].can_tell and not reverse, reverse=reverse)
