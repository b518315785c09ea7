"""The command line: thin, it parses, calls a verb and prints."""

from unmix.cli.app import main

__all__ = ["main"]
