"""One self-contained HTML page: text, figures and tables, readable anywhere and without a network."""

from unmix.report.page import Code, Drawing, Figure, Grid, Page, Part, Spot, Text, rendered

__all__ = ["Code", "Drawing", "Figure", "Grid", "Page", "Part", "Spot", "Text", "rendered"]
