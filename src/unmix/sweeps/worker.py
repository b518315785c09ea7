"""One job in a process of its own: `python -m unmix.sweeps.worker FOLDER`.

It reads job.json and writes result.json or failure.json. It ends when its parent does, however that ended: its
standard input is a pipe that nobody writes to, and that closes with the parent.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path

import torch

from unmix.configuration import from_config
from unmix.files import read_json, write_json
from unmix.sweeps.store import FAILURE, JOB, RESULT
from unmix.training.folder import versions

try:
    import resource
except ImportError:  # Windows does not tell
    resource = None  # type: ignore[assignment]


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        config = read_json(folder / JOB)
        result = from_config(config).run(folder)
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException as error:
        write_json(folder / FAILURE, {"error": f"{error}" or repr(error), "traceback": traceback.format_exc()})
        raise
    made = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "versions": versions()}
    write_json(folder / RESULT, result | {"memory_bytes": _peak_memory(), **made, "job": config})


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _peak_memory() -> int | None:
    """The most memory that this process held, in bytes."""
    if resource is None:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    main()
