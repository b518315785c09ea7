"""A run is a folder: config.json, versions.json, metrics.jsonl, *.safetensors; written atomically, never pickled."""

from __future__ import annotations

import json
import os
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

CONFIG, VERSIONS, METRICS = "config.json", "versions.json", "metrics.jsonl"
CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "encoder.safetensors"


class RunFolder:
    """One run's files. Opening it checks that the folder is new or belongs to the same config."""

    def __init__(self, path: str | Path, config: dict[str, Any]) -> None:
        self.path = Path(path)
        with told_about(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            existing = self.path / CONFIG
            if existing.exists():
                if read_json(existing) != json.loads(json.dumps(config)):
                    raise RunFolderError(
                        f"{self.path} holds a run of another config: choose another folder, or delete this one."
                    )
                return
            if any(p.suffix != ".tmp" for p in self.path.iterdir()):
                raise RunFolderError(f"{self.path} is not empty and holds no run: choose a new or empty folder.")
        self.write_json(VERSIONS, versions())
        self.write_json(CONFIG, config)

    def write_json(self, name: str, value: Any) -> None:
        write_atomically(self.path / name, json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")

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
            raise RunFolderError(f"{path} is damaged: delete it to start this run again.") from None

    def append_metrics(self, line: dict[str, Any]) -> None:
        with told_about(self.path), open(self.path / METRICS, "a") as file:
            file.write(json.dumps(line) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """The lines so far; a line cut off by a kill is left out."""
        path = self.path / METRICS
        lines: list[dict[str, Any]] = []
        for text in path.read_text().splitlines() if path.exists() else []:
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:
                break
        return lines

    def cut_metrics(self, step: int) -> list[dict[str, Any]]:
        """The lines up to a step; the others are removed from the file, for a run that goes on from there."""
        kept = [line for line in self.metrics() if line["step"] <= step]
        if (self.path / METRICS).exists():
            write_atomically(self.path / METRICS, "".join(json.dumps(line) + "\n" for line in kept).encode())
        return kept


def write_atomically(path: Path, content: bytes) -> None:
    """All of the content or none of it: a temporary file in the same folder, synced, then renamed."""
    temporary = path.with_name(path.name + ".tmp")
    with told_about(path):
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


def read_json(path: Path) -> Any:
    try:
        with told_about(path):
            return json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise RunFolderError(f"{path} is damaged: choose another folder, or delete this one.") from None


def versions() -> dict[str, str]:
    """What made the numbers."""
    names = ("unmix", "torch", "numpy", "scipy", "numba", "safetensors")
    return (
        {"python": platform.python_version(), "machine": platform.machine()}
        | {n: version(n) for n in names}
        | {"threads": str(torch.get_num_threads())}
    )


@contextmanager
def told_about(path: Path) -> Iterator[None]:
    """Turn the system's refusal (a full disk, a read-only folder) into one sentence."""
    try:
        yield
    except OSError as error:
        raise RunFolderError(
            f"cannot use {path}: {error.strerror or error}; free the disk, or choose a folder you may write to. "
            "Nothing written before was changed."
        ) from error
