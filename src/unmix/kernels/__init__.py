"""The numerical cores that must be fast. Each has a slow twin in the tests."""

from unmix.kernels.log_partition import log_partition_sum

__all__ = ["log_partition_sum"]
