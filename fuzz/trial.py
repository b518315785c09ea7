"""One damaged file and one call: it answers, or refuses in a sentence. Anything else is a finding."""

from __future__ import annotations

import contextlib
import io
import shutil
import warnings
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.damage import damaged
from fuzz.targets import Target
from unmix.errors import InputError, RunFolderError, TrainingDiverged

ANSWERED, REFUSED, UNDECLARED, CHANGED, LONG = (
    "answered",
    "refused",
    "undeclared error",
    "changed files",
    "long refusal",
)
DIED, HUNG = "process died", "took too long"
FINE = (ANSWERED, REFUSED)
LONGEST = 600  # characters of a sentence


@dataclass(frozen=True)
class Outcome:
    """What came of case number `case` of a seed."""

    case: int
    target: str
    outcome: str
    said: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def tried(targets: list[Target], case: int, seed: int, scratch: Path) -> Outcome:
    """Case number `case`: its target in turn, its damage by seed and number."""
    target = targets[case % len(targets)]
    rng = np.random.default_rng([seed, case])
    shutil.rmtree(scratch, ignore_errors=True)
    if target.folder is None:
        scratch.mkdir(parents=True)
        path = scratch / target.file.name
    else:
        shutil.copytree(target.folder, scratch)
        path = scratch / target.file.relative_to(target.folder)
    path.write_bytes(damaged(target.file.read_bytes(), path.name, rng))
    before = _contents(scratch)
    outcome, said = _called(target, path)
    if outcome == REFUSED and _contents(scratch) != before:
        outcome = CHANGED
    return Outcome(case, target.name, outcome, said)


def _called(target: Target, path: Path) -> tuple[str, str]:
    quiet = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            warnings.simplefilter("ignore")
            target.call(path)
    except (InputError, RunFolderError, TrainingDiverged) as error:
        said = str(error)
        return (REFUSED if len(said) <= LONGEST else LONG), said[: LONGEST + 100]
    except Exception as error:  # what no verb declares is what we look for
        return UNDECLARED, f"{type(error).__module__}.{type(error).__name__}: {error}"[:LONGEST]
    return ANSWERED, ""


def _contents(folder: Path) -> dict[str, str]:
    """A mark of every file that is not empty, as locks are."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}
