"""Many writers of one folder at a time: each ends well or is refused at once, and no reader sees a part of a file."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fuzz.verbs import VERBS
from unmix.errors import RunFolderError
from unmix.files import read_json, write_json

CALLS, PROCESSES, WRITES = 20, 8, 100
WELL, REFUSED, FAILED = "well", "refused", "failed"
CROWDED = "fit", "compare", "audit", "reproduce"


def crowded(folder: Path) -> list[dict[str, Any]]:
    """`CALLS` calls from `PROCESSES` processes into one folder, for each verb; and `WRITES` writes of one file each."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = []
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        for verb in CROWDED:
            counts = Counter(pool.map(_called, [verb] * CALLS, [folder / verb] * CALLS))
            found.append({"what": f"um.{verb}", "calls": CALLS} | {way: counts[way] for way in (WELL, REFUSED, FAILED)})
        counts = sum(pool.map(_written_and_read, [folder / "one.json"] * PROCESSES), Counter())
        calls = counts.total()
        found.append({"what": "one JSON file", "calls": calls} | {way: counts[way] for way in (WELL, REFUSED, FAILED)})
    return found


def _called(verb: str, folder: Path) -> str:
    try:
        VERBS[verb](folder)
    except RunFolderError:
        return REFUSED
    except Exception:
        return FAILED
    return WELL


def _written_and_read(path: Path) -> Counter[str]:
    """Each write is read back at once: what another writer wrote meanwhile is as good, a part of it is not."""
    found: Counter[str] = Counter()
    for i in range(WRITES):
        try:
            write_json(path, {"written": i, "at": time.time(), "long": list(range(200))})
            whole = len(read_json(path)["long"]) == 200
        except (OSError, RunFolderError, json.JSONDecodeError, KeyError):
            whole = False
        found[WELL if whole else FAILED] += 1
    return found
