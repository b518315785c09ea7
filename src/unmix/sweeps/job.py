"""What can be run by itself, in a process of its own."""

from __future__ import annotations

import json
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from unmix.configuration import to_config


class Progress(NamedTuple):
    """How far a running job is, and its loss if it has one."""

    done: int
    total: int
    loss: float | None = None


@runtime_checkable
class Job(Protocol):
    """A frozen dataclass of plain values, so that it can be written to a file, read back and run there.

    `str(job)` is what a person sees of it.
    """

    def run(self, folder: Path) -> dict[str, Any]:
        """Do it, keeping what must survive a kill in `folder`; what comes back is plain values, for JSON."""
        ...

    def progress(self, folder: Path) -> Progress | None:
        """How far the job that runs in `folder` is, if it can be told."""
        ...


def key(job: Job) -> str:
    """The name of a job: a hash of its description and of the version of unmix."""
    content = json.dumps([version("unmix"), to_config(job)])
    return blake2b(content.encode(), digest_size=8).hexdigest()
