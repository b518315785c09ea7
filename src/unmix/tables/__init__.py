"""Tables of rows from whatever people keep them in, without holding a file's rows in memory."""

from unmix.tables.column import Column
from unmix.tables.columns import read_columns
from unmix.tables.index import in_one_order, index_of, moved, orders_of, require_agreement, require_no_ids
from unmix.tables.join import joined, matching
from unmix.tables.labels import read_labels, require_labels
from unmix.tables.read import members, read
from unmix.tables.table import Table

__all__ = [
    "Column",
    "Table",
    "in_one_order",
    "index_of",
    "joined",
    "matching",
    "members",
    "moved",
    "orders_of",
    "read",
    "read_columns",
    "read_labels",
    "require_agreement",
    "require_labels",
    "require_no_ids",
]
