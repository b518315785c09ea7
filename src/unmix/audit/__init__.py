"""What an embedding holds of known variables, and what is shown of a recovery."""

from unmix.audit.audit import audit
from unmix.audit.clusters import ClusterRecovery, cluster_recovery
from unmix.audit.export import terminal as audit_table
from unmix.audit.figure import save_recovery_figure
from unmix.audit.finding import Finding, State
from unmix.audit.report import AuditReport
from unmix.audit.table import recovery_table

__all__ = [
    "AuditReport",
    "ClusterRecovery",
    "Finding",
    "State",
    "audit",
    "audit_table",
    "cluster_recovery",
    "recovery_table",
    "save_recovery_figure",
]
