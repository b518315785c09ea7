"""`unmix compare`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from typer import Argument, Option

from unmix.canonical import CanonicalModel, compare_models
from unmix.cli.labels import id_labels, labels_or_column
from unmix.cli.measures import CHOICES, measures_named
from unmix.comparison import Comparison, LayerComparison, compare_layers, comparison_table
from unmix.comparison import compare as compare_tables
from unmix.errors import require
from unmix.files import told_about
from unmix.printable import escape
from unmix.tables import members, read


def compare(
    tables: Annotated[
        list[str],
        Argument(
            help="Two or more files with the same rows: .npy, .npz, .safetensors, .parquet, .csv. "
            "One array of several: FILE::NAME."
        ),
    ],
    measures: Annotated[str | None, Option(help=f"Comma-separated: default, all, or some of {CHOICES}.")] = None,
    ids: Annotated[
        list[str] | None,
        Option(help="Join rows: a column of every file, or a file of ids for each table: --ids A.txt --ids B.txt."),
    ] = None,
    groups: Annotated[
        str | None,
        Option(help="Rows that belong together: a column of the first table, or a file with one label a line."),
    ] = None,
    time: Annotated[
        bool, Option("--time", help="Rows are in time: folds are consecutive rows, and chance is of shifts in time.")
    ] = False,
    blocks: Annotated[int | None, Option(help="Rows in time, of which so many in a row are taken as a group.")] = None,
    layers: Annotated[
        bool,
        Option("--layers", help="Two files of several arrays: each layer with each layer, by one measure [cka]."),
    ] = False,
    models: Annotated[
        bool, Option("--models", help="Two files that hold f, g and perhaps bias: p(y|x) ∝ exp f(x)ᵀg(y) + b(y).")
    ] = False,
    names: Annotated[str | None, Option(help="Comma-separated names to show instead of the files'.")] = None,
    folds: Annotated[int, Option(help="Parts, each scored by what was fitted on the others.")] = 5,
    bootstraps: Annotated[int, Option(help="Resamples for the 95 % intervals; 40 or more.")] = 200,
    permutations: Annotated[int, Option(help="Random pairings of rows for the score at chance; 99 or more.")] = 199,
    sample: Annotated[
        int | None, Option(help="The most rows for nulls and for measures of rows. [5000, or 5 a column]")
    ] = None,
    seed: Annotated[int, Option(help="Of the folds, resamples and permutations.")] = 0,
    out: Annotated[
        Path | None,
        Option(
            help="A folder for comparison.html, .json, .csv, .tex, .png. The same command again goes on where it was."
        ),
    ] = None,
) -> None:
    """Are representations of the same rows the same, up to what, and is that above chance?

    `unmix compare run1.npy run2.npy run3.npy` scores every pair on held-out rows, with an interval and with the
    score that chance alone gives.
    """
    require(len(tables) >= 2, "compare needs two or more files.")
    require(not (layers and models), "--layers and --models exclude each other.")
    given: dict[str, Any] = {"folds": folds, "bootstraps": bootstraps, "permutations": permutations, "seed": seed}
    given |= {"sample": sample, "groups": labels_or_column(groups), "time": time, "blocks": blocks}
    titles = [n.strip() for n in names.split(",")] if names else None
    unused = {"--ids": (layers or models) and ids, "--names": layers and names, "--measures": models and measures}
    for option, value in unused.items():
        require(not value, f"{option} does not go with {'--layers' if layers else '--models'}: leave it out.")
    require(titles is None or len(titles) == len(tables), "--names must name every file, with commas between.")
    with _stoppable(out):
        if models:
            _models(tables, titles, given, out)
        elif layers:
            _layers(tables, measures, given, out)
        else:
            asked = {"names": titles, "measures": measures_named(measures), "ids": id_labels(ids), "folder": out}
            _show(compare_tables(*tables, **asked, progress=True, **given), out)


@contextmanager
def _stoppable(out: Path | None) -> Iterator[None]:
    """Ctrl-C says what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        finished = "pairs that were finished are kept: the same command again goes on"
        Console(stderr=True, highlight=False).print(f"stopped; {finished if out else 'nothing is kept without --out'}.")
        sys.exit(130)


def _show(found: Comparison, out: Path | None) -> None:
    console = Console(highlight=False)
    console.print(comparison_table(found))
    for p in found.pairs:
        for note in [*p.notes, *(f"{s.measure.name} {s}" for s in p.scores if str(s).startswith("refused"))]:
            console.print(f"{escape(p.x)}, {escape(p.y)}: {escape(note)}", soft_wrap=True)
    console.print("\n[bold]Verdict[/]")
    console.print(escape(found.verdict), soft_wrap=True)
    _keep(found, out, (".html", ".json", ".csv", ".tex", ".png"))


def _layers(tables: list[str], measures: str | None, given: dict[str, Any], out: Path | None) -> None:
    require(len(tables) == 2, "--layers compares two files.")
    asked = measures_named(measures or "cka")
    require(len(asked) == 1, "--layers takes one measure, such as --measures cka.")
    first, second = ({name: f"{file}::{name}" for name, table in members(file).items() if table} for file in tables)
    found: LayerComparison = compare_layers(first, second, measure=asked[0], folder=out, progress=True, **given)
    Console(highlight=False).print(escape(str(found)), soft_wrap=True)
    _keep(found, out, (".json", ".csv", ".png"))


def _models(tables: list[str], titles: list[str] | None, given: dict[str, Any], out: Path | None) -> None:
    require(len(tables) == 2, "--models compares two files.")
    both = []
    stems = [Path(file).stem for file in tables]
    if stems[0] == stems[1]:  # the folders tell which is which
        stems = [Path(file).parent.name or Path(file).stem for file in tables]
    for i, file in enumerate(tables):
        there = members(file)
        require({"f", "g"} <= set(there), f"{file} must hold arrays named f and g (and perhaps bias).")
        f, g = (read(f"{file}::{key}").values for key in ("f", "g"))
        bias = read(f"{file}::bias").values if "bias" in there else None
        both.append(CanonicalModel(f, g, bias, titles[i] if titles else stems[i]))
    found = compare_models(*both, **given)
    Console(highlight=False).print(escape(str(found)), soft_wrap=True)
    _keep(found, out, (".json",))


def _keep(found: Any, out: Path | None, kinds: tuple[str, ...]) -> None:
    if out is None:
        return
    with told_about(out):
        out.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        found.save(out / f"comparison{kind}")
    Console(highlight=False).print(
        f"\n[bold]Kept[/]  {escape(str(out / 'comparison'))}{', '.join(kinds)}", soft_wrap=True
    )
