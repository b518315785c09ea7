"""kill -9 at random moments: every file that is there is whole, and the same call again ends as if nothing had been."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from fuzz.verbs import VERBS

LONGEST = 600


def killed(folder: Path, kills: int, seed: int) -> list[dict[str, Any]]:
    """For each verb: kills, files that were torn, and which files of the end are those of a run that nobody killed."""
    shutil.rmtree(folder, ignore_errors=True)
    return [_one(verb, folder / verb, kills, np.random.default_rng([seed, i])) for i, verb in enumerate(VERBS)]


def _one(verb: str, folder: Path, kills: int, rng: np.random.Generator) -> dict[str, Any]:
    start = time.perf_counter()
    _run(verb, folder / "whole")
    seconds = time.perf_counter() - start
    _run(verb, folder / "again")
    # Times and dates differ from run to run: what two runs that nobody killed share must be there after kills as well.
    whole, again = _files(folder / "whole"), _files(folder / "again")
    same = {name for name in whole if whole[name] == again.get(name)}
    torn = hits = 0
    for _ in range(kills):
        child = subprocess.Popen(_command(verb, folder / "killed"), start_new_session=True)
        try:
            child.wait(rng.uniform(0.3, 1) * seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        hits += child.wait() == -signal.SIGKILL
        torn += sum(not _readable(path) for path in (folder / "killed").rglob("*"))
    resumed = _run(verb, folder / "killed")
    after = _files(folder / "killed")
    differ = sorted(name for name in same if after.get(name) != whole[name])
    missing = sorted(name for name in whole if name not in after)
    found = {"verb": verb, "kills": hits, "torn": torn, "resumed": resumed, "compared": len(same), "differ": differ}
    return found | {"lost": torn + (not resumed) + len(differ) + len(missing)}


def _command(verb: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "fuzz.verbs", verb, str(folder)]


def _run(verb: str, folder: Path) -> bool:
    return subprocess.run(_command(verb, folder), timeout=LONGEST, check=False).returncode == 0


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _readable(path: Path) -> bool:
    """Whether a file is whole, as far as its kind can be told. Lines that are being added to may lack their end."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".safetensors":
            with safe_open(path, "np") as file:
                [file.get_tensor(name) for name in file.keys()]  # noqa: SIM118 - it is no mapping
        if path.suffix == ".npy":
            np.load(path, mmap_mode="r")
    except Exception:
        return False
    return True
