"""What is shown of a recovery."""

from unmix.audit.figure import save_recovery_figure
from unmix.audit.table import recovery_table

__all__ = ["recovery_table", "save_recovery_figure"]
