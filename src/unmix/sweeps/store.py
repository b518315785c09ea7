"""Jobs in a folder: what they are, what came of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmix.configuration import to_config
from unmix.errors import RunFolderError
from unmix.files import read_json, told_about, write_json
from unmix.lock import is_locked
from unmix.sweeps.job import Job, key

JOB, RESULT, FAILURE, LOCK = "job.json", "result.json", "failure.json", ".lock"


class JobStore:
    """One folder a job, named by its content: equal jobs of different tables share it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, job: Job) -> Path:
        return self.folder / key(job)

    def prepare(self, job: Job) -> Path:
        """The job's folder, with its description for a worker to read; an earlier failure is forgotten."""
        path = self.path(job)
        with told_about(path):
            path.mkdir(parents=True, exist_ok=True)
            (path / FAILURE).unlink(missing_ok=True)
        write_json(path / JOB, to_config(job))
        return path

    def taken(self, job: Job) -> bool:
        """Whether a worker is at it, of this process or of another."""
        return is_locked(self.path(job) / LOCK)

    def result(self, job: Job) -> dict[str, Any] | None:
        """What came of a job, or None if it has not finished."""
        return _read(self.path(job) / RESULT)

    def failure(self, job: Job) -> str | None:
        """Why a job failed, in a sentence, or None if it did not."""
        found = _read(self.path(job) / FAILURE)
        return None if found is None else str(found.get("error", "it is not known why"))


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    found = read_json(path)
    if not isinstance(found, dict):
        raise RunFolderError(f"{path} is damaged: delete it, and the job is run again.")
    return found
