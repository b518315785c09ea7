"""The numerical cores that must be fast. Each has a slow twin in the tests."""

from unmix.kernels.contrastive import contrastive_sum
from unmix.kernels.partition import log_partition_sum

__all__ = ["contrastive_sum", "log_partition_sum"]
