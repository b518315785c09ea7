"""One seed, many named streams: nothing in unmix touches the global random state."""

from __future__ import annotations

import hashlib

import torch

from unmix.errors import brief, require


def stream(seed: int, name: str) -> torch.Generator:
    """A generator for one purpose, independent of the streams of other names and seeds.

    The same (seed, name) gives the same numbers in any process.

    Examples
    --------
    >>> a, b = stream(0, "init"), stream(0, "init")
    >>> bool((torch.rand(3, generator=a) == torch.rand(3, generator=b)).all())
    True
    >>> c = stream(0, "batches")
    >>> bool((torch.rand(3, generator=stream(0, "init")) == torch.rand(3, generator=c)).any())
    False
    """
    require(
        isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0,
        f"seed must be a whole number of at least 0, not {brief(seed)}.",
    )
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)
