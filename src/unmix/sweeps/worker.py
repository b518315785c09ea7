"""One job in a process of its own: `python -m unmix.sweeps.worker FOLDER MODULE:CLASS`.

It reads job.json, which holds a job of this class, and writes result.json or failure.json. The class is named by the
process that starts it: what the file names is never imported. It ends when its parent does, however that ended: its
standard input is a pipe that nobody writes to, and that closes with the parent.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from datetime import UTC, datetime
from functools import reduce
from importlib import import_module
from pathlib import Path

import torch

from unmix.configuration import from_config
from unmix.files import read_json, write_json
from unmix.lock import locked
from unmix.sweeps.store import FAILURE, JOB, LOCK, RESULT
from unmix.training.descriptions import DESCRIPTIONS
from unmix.training.folder import versions


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with locked(folder / LOCK, wait=True):  # for any other worker in this folder
        if not (folder / RESULT).exists():  # another process may have had the job, and finished it meanwhile
            _run(folder)


def _run(folder: Path) -> None:
    try:
        config = read_json(folder / JOB)
        result = from_config(config, (*DESCRIPTIONS, _class_named(sys.argv[2]))).run(folder)
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException as error:
        write_json(folder / FAILURE, {"error": f"{error}" or repr(error), "traceback": traceback.format_exc()})
        raise
    made = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "versions": versions()}
    write_json(folder / RESULT, result | {"memory_bytes": _peak_memory(), **made, "job": config})
    (folder / FAILURE).unlink(missing_ok=True)


def _class_named(text: str) -> type:
    module, _, name = text.partition(":")
    found: type = reduce(getattr, name.split("."), import_module(module))  # type: ignore[assignment]
    return found


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)


def _peak_memory() -> int | None:
    """The most memory that this process held, in bytes, where the system tells (Linux)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), None)


if __name__ == "__main__":
    main()
