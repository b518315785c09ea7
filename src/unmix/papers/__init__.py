"""The papers' tables and figures: what they print as data, and a verb that runs them again."""

from unmix.papers.exhibit import Column, Exhibit, Published, Row
from unmix.papers.jobs import Trained, Untrained
from unmix.papers.names import catalogue, exhibit_named
from unmix.papers.pictures import dots
from unmix.papers.reproduce import reproduce
from unmix.papers.reproduction import Cell, Reproduction, read

__all__ = [
    "Cell", "Column", "Exhibit", "Published", "Reproduction", "Row", "Trained", "Untrained", "catalogue", "dots",
    "exhibit_named", "read", "reproduce",
]  # fmt: skip
