"""`unmix activations`."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile

import numpy as np
from rich.console import Console
from rich.table import Table
from torch import nn
from typer import Argument, Option

from unmix.activations import (
    Activations,
    EachToken,
    Flatten,
    Head,
    LastToken,
    Mean,
    Pretrained,
    Rows,
    head,
    layers_of,
    record,
    shapes_of,
)
from unmix.cli.networks import network_named
from unmix.errors import InputError, require
from unmix.printable import escape
from unmix.tables import read_labels

ROWS: dict[str, Rows] = {
    "flatten": Flatten(),
    "mean": Mean(),
    "mean:1": Mean((1,)),
    "mean:2": Mean((2,)),
    "last-token": LastToken(),
    "each-token": EachToken(),
}


def activations(
    model: Annotated[
        str,
        Argument(
            help="MODULE:CALLABLE that gives a torch module (found from here), or a folder of a Hugging Face model."
        ),
    ],
    data: Annotated[
        Path | None, Option(help="The inputs: .npy (images, tables, tokens), or .npz with an array an argument.")
    ] = None,
    text: Annotated[Path | None, Option(help="For a Hugging Face model: a file with one text a line.")] = None,
    layers: Annotated[
        str | None, Option(help="Comma-separated names; f is the input of the head, and comes with g and bias.")
    ] = None,
    head_name: Annotated[
        str | None, Option("--head", help="The linear layer that gives the logits. [the output embedding, or the last]")
    ] = None,
    rows: Annotated[
        str | None, Option(help=f"How an output becomes rows: {', '.join(ROWS)}. [flatten; of texts each-token]")
    ] = None,
    ids: Annotated[
        Path | None, Option(help="A file with one name an input. [0, 1, …; of texts the line's number]")
    ] = None,
    batch: Annotated[int, Option(help="Inputs that go through the model together.")] = 64,
    listing: Annotated[
        bool, Option("--list", help="List the layers, with the shapes they give for two inputs.")
    ] = False,
    out: Annotated[Path | None, Option(help="The folder. The same command again goes on where it was.")] = None,
) -> None:
    """What layers of a network say about data, as files for `unmix compare` and `unmix audit`.

    `unmix activations nets:small --data images.npy --layers conv2,f --out runs/small` writes conv2.npy and f.npy with
    ids.txt, and model.npz (f, g, bias) for `unmix compare --models`.
    """
    require(not (data and text), "--data and --text exclude each other.")
    found = network_named(model)
    network = found.model if isinstance(found, Pretrained) else found
    given, names = _inputs(found, data, text, batch if not listing else 2)
    if listing:
        _list(network, given)
        return
    require(given is not None, "there is nothing to run the model on: give --data or --text.")
    require(not (ids and text), "--ids does not go with --text, whose lines are named by their numbers: leave it out.")
    if not layers or out is None:
        raise InputError("name --layers, with commas between (--list lists them), and a folder for the files, --out.")
    asked = [name.strip() for name in layers.split(",")]
    require("f" in asked or head_name is None, "--head is for f: add f to --layers, or leave out --head.")
    top = head(network, head_name) if "f" in asked else None
    chosen = rows or ("each-token" if text else "flatten")
    require(chosen in ROWS, f"there are no rows {chosen!r}: choose from {', '.join(ROWS)}.")
    settings: dict[str, Any] = {"head": top, "rows": ROWS[chosen], "ids": read_labels(ids) if ids else names}
    settings |= {} if text else {"batch": batch}
    try:
        _show(record(network, given, [name for name in asked if name != "f"], out, **settings), top)
    except KeyboardInterrupt:
        Console(stderr=True).print("stopped; what was recorded is kept: the same command again goes on.")
        sys.exit(130)


def _inputs(found: nn.Module | Pretrained, data: Path | None, text: Path | None, batch: int) -> tuple[Any, Any]:
    """What the model is run on, and names for it if it brings some."""
    if text is not None:
        if not isinstance(found, Pretrained):
            raise InputError("--text is for a Hugging Face model's folder: give --data.")
        require(text.is_file(), f"there is no file {text}.")
        try:
            lines = text.read_text(encoding="utf-8-sig").split("\n")
        except UnicodeDecodeError:
            raise InputError(f"{text} is not UTF-8 text: save it as UTF-8.") from None
        kept = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        require(bool(kept), f"{text} is empty: give one text a line.")
        return found.texts([line for _, line in kept], batch), [number for number, _ in kept]
    if data is None:
        return None, None
    require(data.is_file(), f"there is no file {data}.")
    require(data.suffix in (".npy", ".npz"), f"{data.name} is of no kind that a model is run on: give .npy or .npz.")
    try:
        there = np.load(data, mmap_mode="r", allow_pickle=False)
        return (there if data.suffix == ".npy" else dict(there)), None
    except (ValueError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise InputError(f"{data} cannot be read as {data.suffix}: write it anew with numpy.save.") from error


def _list(network: nn.Module, given: Any) -> None:
    shapes = {} if given is None else shapes_of(network, given)
    table = Table("layer", "kind", *([] if given is None else ["gives"]), box=None)
    for name, kind in layers_of(network).items():
        shape = "×".join(map(str, shapes[name])) if name in shapes else ""
        table.add_row(*map(escape, (name, kind) if given is None else (name, kind, shape)))
    Console(highlight=False).print(table)


def _show(found: Activations, top: Head | None) -> None:
    console = Console(highlight=False)
    for name, width in found.widths.items():
        told = f", the input of {top.name}, with g of {len(top.g):,} labels in model.npz" if top and name == "f" else ""
        line = f"{found.folder / name}.npy  {found.rows:,} × {width:,}{told}"
        console.print(escape(line), soft_wrap=True)
    groups = ", groups.txt" if found.groups is not None else ""
    console.print(escape(f"{found.folder / 'ids.txt'}{groups}"), soft_wrap=True)
