"""Tables of rows from whatever people keep them in, without holding a file's rows in memory."""

from unmix.tables.column import Column
from unmix.tables.columns import read_columns
from unmix.tables.join import joined, matching
from unmix.tables.labels import read_labels, require_labels
from unmix.tables.read import members, read
from unmix.tables.table import Table

__all__ = ["Column", "Table", "joined", "matching", "members", "read", "read_columns", "read_labels", "require_labels"]
