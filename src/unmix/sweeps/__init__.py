"""Many independent runs: each in a process of its own, kept in a folder, never repeated."""

from unmix.sweeps.job import Job, Progress
from unmix.sweeps.pool import Pool
from unmix.sweeps.store import JobStore

__all__ = ["Job", "JobStore", "Pool", "Progress"]
