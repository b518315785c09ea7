"""The `unmix` command."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console

from unmix.cli.activations import activations
from unmix.cli.audit import audit
from unmix.cli.compare import compare
from unmix.cli.demo import demo
from unmix.cli.docs import docs
from unmix.cli.fit import fit
from unmix.cli.reproduce import reproduce
from unmix.errors import InputError, RunFolderError, TrainingDiverged
from unmix.printable import printable

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Identifiable representation learning: simulate a process, ask what theory promises, train, measure.",
)


def show_version(asked: bool) -> None:
    if asked:
        print(f"unmix {version('unmix')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Identifiable representation learning: simulate a process, ask what theory promises, train, measure."""


app.command()(demo)
app.command()(fit)
app.command()(audit)
app.command()(compare)
app.command()(activations)
app.command()(reproduce)
app.command()(docs)


def main() -> None:
    """Run the command line; a mistake of the user's becomes one sentence and a non-zero exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows ? instead of failing
    try:
        app()
    except InputError as error:
        fail(str(error), 2)
    except (RunFolderError, TrainingDiverged) as error:
        fail(str(error), 1)


def fail(message: str, code: int) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print("[bold red]error:[/]", end=" ")
    print(printable(message), file=sys.stderr)
    sys.exit(code)
