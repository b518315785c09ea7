"""The numerical cores that must be fast. Each has a slow twin in the tests."""

from unmix.kernels.contrastive import contrastive_sum

__all__ = ["contrastive_sum"]
