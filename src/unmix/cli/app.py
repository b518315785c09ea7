"""The `unmix` command."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from unmix.cli.demo import demo
from unmix.cli.fit import fit
from unmix.errors import InputError, RunFolderError, TrainingDiverged

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Identifiable representation learning: simulate a process, ask what theory promises, train, measure.",
)
app.command()(demo)
app.command()(fit)


def main() -> None:
    """Run the command line; a mistake of the user's becomes one sentence and a non-zero exit code."""
    try:
        app()
    except InputError as error:
        fail(str(error), 2)
    except (RunFolderError, TrainingDiverged) as error:
        fail(str(error), 1)


def fail(message: str, code: int) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print("[bold red]error:[/]", end=" ")
    print(message, file=sys.stderr)
    sys.exit(code)
