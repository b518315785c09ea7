"""The papers' tables and figures: what they print as data, and a verb that runs them again."""

from unmix.papers.cell import Cell
from unmix.papers.exhibit import Column, Exhibit, Published, Row
from unmix.papers.jobs import Classified, Trained, Untrained
from unmix.papers.names import catalogue, exhibit_named
from unmix.papers.pictures import dots, grid
from unmix.papers.reproduce import reproduce
from unmix.papers.reproduction import Reproduction, read

__all__ = [
    "Cell", "Classified", "Column", "Exhibit", "Published", "Reproduction", "Row", "Trained", "Untrained", "catalogue",
    "dots", "exhibit_named", "grid", "read", "reproduce",
]  # fmt: skip
