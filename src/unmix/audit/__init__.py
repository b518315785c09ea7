"""What is shown of a recovery."""

from unmix.audit.clusters import ClusterRecovery, cluster_recovery
from unmix.audit.figure import save_recovery_figure
from unmix.audit.table import recovery_table

__all__ = ["ClusterRecovery", "cluster_recovery", "recovery_table", "save_recovery_figure"]
