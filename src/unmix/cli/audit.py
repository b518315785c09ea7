"""`unmix audit`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from typer import Argument, Option

from unmix.audit import audit as audited
from unmix.audit import audit_table
from unmix.cli.labels import id_labels, labels_or_column
from unmix.errors import InputError, require
from unmix.factors import Categorical, Continuous, Kind, Ordinal, Periodic
from unmix.files import told_about
from unmix.printable import escape

KINDS = "continuous, categorical, ordinal, ordinal:low,mid,high, periodic (2π) or periodic:360"


def audit(
    embedding: Annotated[
        str, Argument(help="A file: .npy, .npz, .safetensors, .parquet, .csv. One array of several: FILE::NAME.")
    ],
    factors: Annotated[str, Option(help="A file of known variables, a column each: .csv, .parquet, .npz, .npy.")],
    kind: Annotated[
        list[str] | None, Option(help=f"What a factor is, where the guess is wrong: NAME=KIND. Kinds: {KINDS}.")
    ] = None,
    only: Annotated[str | None, Option(help="Comma-separated names of the factors to ask for. [all]")] = None,
    ids: Annotated[
        list[str] | None,
        Option(help="Join rows: a column of both files, or a file of ids for each: --ids A.txt --ids B.txt."),
    ] = None,
    groups: Annotated[
        str | None,
        Option(help="Rows that belong together: a column of the factors, or a file with one label a line."),
    ] = None,
    time: Annotated[
        bool, Option("--time", help="Rows are in time: folds are consecutive rows, and chance is of shifts in time.")
    ] = False,
    blocks: Annotated[int | None, Option(help="Rows in time, of which so many in a row are taken as a group.")] = None,
    name: Annotated[str | None, Option(help="What to call the embedding. [its file's name]")] = None,
    probe: Annotated[bool, Option("--probe/--no-probe", help="Fit gradient boosting too.")] = True,
    folds: Annotated[int, Option(help="Parts, each scored by what was fitted on the others.")] = 5,
    bootstraps: Annotated[int, Option(help="Resamples for the 95 % intervals; 40 or more.")] = 200,
    permutations: Annotated[int, Option(help="Random pairings of rows for the score at chance; 99 or more.")] = 199,
    sample: Annotated[int | None, Option(help="The most rows for nulls. [5000, or 5 a column]")] = None,
    seed: Annotated[int, Option(help="Of the folds, resamples, permutations and the probe.")] = 0,
    out: Annotated[
        Path | None, Option(help="The folder for audit.html, .json, .csv and .tex; by default runs/audit-NAME.")
    ] = None,
) -> None:
    """Which known variables does an embedding hold, how well, up to what, and in which outputs?

    `unmix audit embeddings.npy --factors factors.csv` scores every factor on held-out rows, next to what chance alone
    gives, and writes a report to send.
    """
    given: dict[str, Any] = {"folds": folds, "bootstraps": bootstraps, "permutations": permutations, "seed": seed}
    report = audited(
        embedding,
        factors,
        kinds=dict(map(named_kind, kind or ())),
        only=[part.strip() for part in only.split(",")] if only else None,
        ids=id_labels(ids),
        groups=labels_or_column(groups),
        time=time,
        blocks=blocks,
        name=name,
        probe=probe,
        sample=sample,
        progress=True,
        **given,
    )
    console = Console(highlight=False)
    console.print(audit_table(report))
    for some in report.left:
        console.print(f"{escape(some.name)} was left out: {escape(some.reason)}.", soft_wrap=True)
    console.print("\n[bold]Verdict[/]")
    console.print(escape(report.verdict), soft_wrap=True)
    for warning in report.warnings:
        console.print(f"[bold yellow]Warning[/] {escape(warning)}", soft_wrap=True)
    folder = out or Path("runs") / ("audit-" + re.sub(r"[^\w.-]+", "-", report.name))
    with told_about(folder):
        folder.mkdir(parents=True, exist_ok=True)
    kept = (".html", ".json", ".csv", ".tex")
    for suffix in kept:
        report.save(folder / f"audit{suffix}")
    console.print(f"\n[bold]Report[/]  {escape(str(folder / 'audit'))}{', '.join(kept)}", soft_wrap=True)


def named_kind(text: str) -> tuple[str, Kind]:
    """NAME=KIND, or NAME=KIND:DETAILS."""
    name, mark, said = text.rpartition("=")
    require(bool(mark and name), f"--kind {text} must be like angle=periodic:360.")
    word, _, details = said.partition(":")
    match word, details:
        case "continuous", "":
            return name, Continuous()
        case "categorical", "":
            return name, Categorical()
        case "ordinal", _:
            return name, Ordinal(tuple(part.strip() for part in details.split(",")) if details else ())
        case "periodic", "":
            return name, Periodic()
        case "periodic", number:
            try:
                return name, Periodic(float(number))
            except ValueError as error:
                raise InputError(f"--kind {text}: a period is a number above 0, such as 360.") from error
    raise InputError(f"--kind {text} is of no known kind: give {KINDS}.")
