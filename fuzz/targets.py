"""Good files of every kind that unmix reads, and the call that reads each: the fuzz damages one file at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch
from safetensors.numpy import save_file
from torch import nn

import unmix as um
from unmix.cli.labels import id_labels, labels_or_column
from unmix.cli.settings import settle

ROWS, WIDTH = 60, 3
FEW: dict[str, Any] = {"bootstraps": 40, "permutations": 99, "folds": 3}


@dataclass(frozen=True)
class Target:
    """A file, and a call that reads it. Undamaged, the file gets an answer."""

    name: str
    file: Path
    call: Callable[[Path], object]
    folder: Path | None = None  # all of it is copied before the file is damaged


def targets(folder: Path) -> list[Target]:
    """Everything in a folder, written there where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*tables(folder), *labels(folder), *kept(folder)]


def tables(folder: Path) -> list[Target]:
    """The same numbers in every format, as a representation, as factors and as a file of settings."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(ROWS, WIDTH)).astype(np.float32)
    other = values @ rng.normal(size=(WIDTH, WIDTH)).astype(np.float32)
    columns = {f"x{i}": values[:, i] for i in range(WIDTH)} | {"kind": np.array(["a", "b"] * (ROWS // 2))}
    words = pa.table(columns)
    numbers = words.drop_columns(["kind"])
    np.save(folder / "table.npy", values)
    np.savez(folder / "table.npz", x=values)
    np.savez_compressed(folder / "packed.npz", x=values)
    save_file({"x": values}, folder / "table.safetensors")
    pa.parquet.write_table(numbers, folder / "table.parquet")
    pa.csv.write_csv(numbers, folder / "table.csv")
    pa.csv.write_csv(words, folder / "factors.csv")
    pa.parquet.write_table(words, folder / "factors.parquet")
    np.savez(folder / "factors.npz", **columns)
    (folder / "settings.toml").write_text('space = "box"\ndimension = 2\nsteps = 3\nwidths = [8]\n')
    (folder / "settings.json").write_text('{"space": "box", "dimension": 2, "steps": 3, "widths": [8]}')

    def compared(path: Path) -> object:
        return um.compare(other, str(path), measures=[um.measures.R2(), um.measures.CKA()], **FEW)

    def audited(path: Path) -> object:
        return um.audit(other, str(path), probe=False, **FEW)

    def settled(path: Path) -> object:
        settings = settle({}, path)
        return settings.model(settings.process())

    formats = "table.npy", "table.npz", "packed.npz", "table.safetensors", "table.parquet", "table.csv"
    return [
        *(Target(f"compare {name}", folder / name, compared) for name in formats),
        *(
            Target(f"audit {name}", folder / name, audited)
            for name in ("factors.csv", "factors.parquet", "factors.npz")
        ),
        *(Target(f"fit {name}", folder / name, settled) for name in ("settings.toml", "settings.json")),
    ]


def labels(folder: Path) -> list[Target]:
    """Files of ids and of groups."""
    values = np.random.default_rng(1).normal(size=(ROWS, WIDTH))
    numbers = np.arange(ROWS)
    np.save(folder / "ids.npy", numbers)
    np.save(folder / "groups.npy", numbers // 4)
    (folder / "ids.txt").write_text("".join(f"row {i}\n" for i in numbers))
    (folder / "groups.txt").write_text("".join(f"group {i // 4}\n" for i in numbers))

    def compared(**how: Any) -> object:
        return um.compare(values, values**3, measures=[um.measures.R2()], **how, **FEW)

    def joined(path: Path) -> object:
        return compared(ids=id_labels([str(path), str(folder / f"good-{path.suffix[1:]}" / path.name)]))

    def grouped(path: Path) -> object:
        return compared(groups=labels_or_column(str(path)))

    for name in ("ids.npy", "ids.txt"):
        good = folder / f"good-{Path(name).suffix[1:]}"
        good.mkdir(exist_ok=True)
        (good / name).write_bytes((folder / name).read_bytes())
    return [
        *(Target(f"--ids {name}", folder / name, joined) for name in ("ids.npy", "ids.txt")),
        *(Target(f"--groups {name}", folder / name, grouped) for name in ("groups.npy", "groups.txt")),
    ]


def kept(folder: Path) -> list[Target]:
    """What unmix itself wrote: a run, activations, an estimator, pairs of a comparison, an outcome of reproduce."""
    run, acts, estimator, pairs = (folder / name for name in ("run", "activations", "estimator", "comparison"))
    data = np.random.default_rng(2).normal(size=(ROWS, WIDTH)).astype(np.float32)
    process = um.PairProcess(um.Box(2), um.Uniform(), um.Laplace(0.05), um.mixings.Linear(pool=10))
    model = um.Model(um.encoders.MLP((8,)), um.InfoNCE(um.Lp(1)), um.outputs.Free())
    recipe = um.Recipe(steps=3, batch=32, rate=1e-2, whitening_rows=100)
    um.fit(process, model, recipe, folder=run, progress=False)
    net = nn.Sequential(nn.Linear(WIDTH, 4), nn.Tanh(), nn.Linear(4, 2)).requires_grad_(False)
    for i, weight in enumerate(net.parameters()):
        weight.copy_(torch.linspace(-1, 1, weight.numel()).reshape(weight.shape) + i)
    um.activations.record(net, torch.from_numpy(data), layers=["0", "2"], folder=acts)
    um.estimators.ContrastiveEncoder(2, random_state=0, max_steps=3, batch_size=16).fit(data, data + 0.1).save(
        estimator
    )

    def compared(path: Path) -> object:
        # its folder is that of the pair
        return um.compare(data, data**3, measures=[um.measures.R2()], folder=path.parent.parent, **FEW)

    compared(pairs / "pairs" / "any")
    (pair,) = (pairs / "pairs").glob("*.json")
    outcome = folder / "figure2.json"
    outcome.write_bytes((Path(__file__).parent.parent / "results" / "roeder2021" / "figure2.json").read_bytes())

    def loaded(path: Path) -> object:
        return um.load(path.parent).embed(torch.zeros(4, 2))

    def taken_up(path: Path) -> object:
        return um.fit(process, model, recipe, folder=path.parent, progress=False)

    def activations(path: Path) -> object:
        found = um.activations.load(path.parent)
        return [np.asarray(found[name]).sum() for name in ("0", "2")], found.ids

    def estimated(path: Path) -> object:
        return um.estimators.load(path.parent).transform(data)

    in_run = "config.json", "versions.json", "metrics.jsonl", "encoder.safetensors", "checkpoint.safetensors"
    in_acts = "activations.json", "config.json", "ids.txt", "0.npy"
    return [
        *(Target(f"load run/{name}", run / name, loaded, run) for name in in_run),
        *(Target(f"fit run/{name}", run / name, taken_up, run) for name in in_run),
        *(Target(f"load activations/{name}", acts / name, activations, acts) for name in in_acts),
        Target("load estimator", estimator / "estimator.safetensors", estimated, estimator),
        Target("compare, a kept pair", pair, compared, pairs),
        Target("read an outcome", outcome, lambda path: json.dumps(um.papers.read(path).as_dict())),
    ]
