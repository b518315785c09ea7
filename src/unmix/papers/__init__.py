"""The papers' tables and figures: what they print as data, and a verb that runs them again."""

from unmix.papers.exhibit import Column, Exhibit, Published, Row
from unmix.papers.names import catalogue, exhibit_named
from unmix.papers.reproduce import reproduce
from unmix.papers.reproduction import Cell, Reproduction, read

__all__ = [
    "Cell", "Column", "Exhibit", "Published", "Reproduction", "Row", "catalogue", "exhibit_named", "read", "reproduce",
]  # fmt: skip
