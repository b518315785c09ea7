"""One self-contained HTML page: text, figures and tables, readable anywhere and without a network."""

from unmix.report.page import Figure, Grid, Page, Spot, Text, rendered

__all__ = ["Figure", "Grid", "Page", "Spot", "Text", "rendered"]
