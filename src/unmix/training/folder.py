"""A run is a folder: config.json, versions.json, metrics.jsonl, *.safetensors; written atomically, never pickled."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from unmix.errors import RunFolderError
from unmix.files import no_link, read_json, told_about, write_atomically, write_json
from unmix.lock import locked

CONFIG, VERSIONS, METRICS = "config.json", "versions.json", "metrics.jsonl"
CHECKPOINT, WEIGHTS, LOCK = "checkpoint.safetensors", "encoder.safetensors", ".lock"
LONGEST = 100  # characters of a value in a sentence


class RunFolder:
    """One run's files."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @contextmanager
    def claimed(self, config: dict[str, Any]) -> Iterator[None]:
        """Take the folder for training this config, and keep all others out of it meanwhile.

        The system lets go of the lock even after kill -9.
        """
        self.check(config)
        with told_about(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path / LOCK):
            self.check(config)
            if not (self.path / CONFIG).exists():
                self.write_json(CONFIG, config)
            self._note_versions()
            yield

    def _note_versions(self) -> None:
        """What makes the numbers now, and under `before` what made those up to the last checkpoint, if it was other."""
        now, then = versions(), self._versions()
        before = then.pop("before", [])
        if then != now:
            begun = bool(then) and (self.path / CHECKPOINT).exists()
            self.write_json(VERSIONS, now | ({"before": [*before, then]} if begun else {}))

    def _versions(self) -> dict[str, Any]:
        """As noted; a note that cannot be read stops no run."""
        try:
            found = read_json(self.path / VERSIONS)
        except RunFolderError:
            return {}
        return found if isinstance(found, dict) else {}

    def check(self, config: dict[str, Any]) -> None:
        """Refuse a folder that holds anything but a run of this config."""
        with told_about(self.path):
            if not self.path.exists():
                return
            there = [p for p in self.path.iterdir() if p.suffix != ".tmp" and p.name != LOCK]
            if (self.path / CONFIG).exists():  # asked after the list: another process may be writing it, as the first
                kept, here = read_json(self.path / CONFIG), json.loads(json.dumps(config))
                if kept != here:
                    raise RunFolderError(
                        f"{self.path} holds a run of another config ({difference(kept, here)}): "
                        "choose another folder, or delete this one."
                    )
            elif there:
                raise RunFolderError(f"{self.path} is not empty and holds no run: choose a new or empty folder.")

    def write_json(self, name: str, value: Any) -> None:
        write_json(self.path / name, value)

    def write_tensors(self, name: str, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        """Tensors and, in the header, a few facts as JSON."""
        plain = {k: v.detach().cpu().contiguous() for k, v in tensors.items()}
        write_atomically(self.path / name, safetensors.torch.save(plain, {"facts": json.dumps(facts)}))

    def read_tensors(self, name: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """What `write_tensors` wrote, or None if it never did."""
        path = self.path / name
        if not path.exists():
            return None
        try:
            with told_about(path), safetensors.safe_open(path, framework="pt") as file:
                facts = json.loads((file.metadata() or {})["facts"])
                return {k: file.get_tensor(k) for k in file.keys()}, facts  # noqa: SIM118
        except (safetensors.SafetensorError, KeyError, json.JSONDecodeError):
            raise RunFolderError(f"{path} is damaged: delete it and fit again with this folder.") from None

    def append_metrics(self, line: dict[str, Any]) -> None:
        with told_about(self.path), open(self.path / METRICS, "a", opener=no_link) as file:
            file.write(json.dumps(line) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """The lines so far; a line cut off by a kill is left out."""
        path = self.path / METRICS
        lines: list[dict[str, Any]] = []
        texts = path.read_bytes().splitlines() if path.exists() else []
        for number, text in enumerate(texts, 1):
            try:
                line = json.loads(text)
                lines.append(line | {"step": int(line["step"]), "loss": float(line["loss"])})
            except (ValueError, TypeError, KeyError):
                if number == len(texts):  # cut off by a kill
                    break
                raise RunFolderError(f"line {number} of {path} is damaged: delete the file to go on.") from None
        return lines

    def cut_metrics(self, step: int) -> list[dict[str, Any]]:
        """The lines up to a step; the others are removed from the file, for a run that goes on from there."""
        kept = [line for line in self.metrics() if line["step"] <= step]
        if (self.path / METRICS).exists():
            write_atomically(self.path / METRICS, "".join(json.dumps(line) + "\n" for line in kept).encode())
        return kept


def versions() -> dict[str, str]:
    """What made the numbers."""
    names = ("unmix", "torch", "numpy", "scipy", "numba", "safetensors")
    return (
        {"python": platform.python_version(), "machine": platform.machine()}
        | {n: version(n) for n in names}
        | {"threads": str(torch.get_num_threads())}
    )


def difference(there: Any, here: Any, at: str = "") -> str:
    """The first place where two configs differ, in words."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in there | here:
            if there.get(key) != here.get(key):
                return difference(there.get(key), here.get(key), f"{at}.{key}" if at else key)
    return f"its {at} is {_short(there)}, not {_short(here)}"


def _short(value: Any) -> str:
    """As JSON, and of what is long the start."""
    said = json.dumps(value, ensure_ascii=False)
    return said if len(said) <= LONGEST else said[:LONGEST] + "…"
