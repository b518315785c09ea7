"""Tables of arrow, of a file or of another package: numbers to the spool, labels to memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Num
from numpy import ndarray

from unmix.errors import require
from unmix.tables.spool import spool
from unmix.tables.table import Table

Labels = tuple[str, ...]


def arrow_table(name: str, place: str, labels: Labels, schema: Any, batches: Any, rows: int = 0) -> Table:
    """Numbers to the spool, labels to memory. A column of lists of numbers (an embedding) is as many columns.

    Parameters
    ----------
    rows : how many there are, if that is known.
    """
    missing = [label for label in labels if label not in schema.names]
    require(not missing, f"{place} has no column {', '.join(missing)}: it has {', '.join(schema.names[:20])}.")
    columns = [c for c in schema.names if c not in labels]
    require(bool(columns), f"{place} has no column of numbers.")
    kept: dict[str, list[Any]] = {label: [] for label in labels}

    def blocks() -> Iterator[Num[ndarray, "m k"]]:
        for batch in batches:
            if not batch.num_rows:
                continue
            for label in labels:
                kept[label].append(np.asarray(batch.column(label).to_pylist()))
            yield np.hstack([_numbers(batch.column(c), c, place) for c in columns])

    single = all(schema.field(c).type == "float" for c in columns)
    values = spool(blocks(), name, rows * len(columns) * (4 if single else 8))
    named = {label: np.concatenate(parts) for label, parts in kept.items()}
    names = tuple(columns) if values.shape[1] == len(columns) else ()
    return Table(name, values, names, named)


def _numbers(column: Any, title: str, place: str) -> Num[ndarray, "m k"]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        flat = column.flatten()
        even = len(flat) % len(column) == 0 and len(set(column.value_lengths().to_pylist())) == 1
        require(even, f"column {title} of {place} has lists of different lengths: give one length.")
        return _numbers(flat, title, place).reshape(len(column), -1)
    if pa.types.is_boolean(kind):  # whose gaps numpy would make objects of
        column, kind = column.cast(pa.int8()), pa.int8()
    plain = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    require(plain, f"column {title} of {place} is {kind}, not numbers: name it as ids or groups, or leave it out.")
    values = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float32 if kind == pa.float32() else np.float64)[:, None]
