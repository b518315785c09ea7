"""Figure 2: what happens when the marginal is not uniform.

The paper plots R² against the concentration of the marginal, with the conditional's fixed, and prints neither values
nor setting. The setting here is ours: a sphere in 10 and in 3 dimensions, a von Mises-Fisher marginal swept through a
conditional vMF(10), and a model that matches the conditional, so that Theorem 2 holds at concentration 0.

A narrow marginal leaves the positives outside of where the negatives are, and the best encoder spreads the narrow cap
over a sphere, by direction: it loses the distance to the centre, which is much in 3 dimensions and little in 10.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import torch

from unmix.encoders import outputs
from unmix.indeterminacy import AFFINE
from unmix.laws import Uniform, VonMisesFisher
from unmix.papers.exhibit import Exhibit, Row
from unmix.papers.pictures import INK
from unmix.papers.zimmermann2021 import setting
from unmix.papers.zimmermann2021.setting import DIMENSION, IDENTITY, UNSUPERVISED
from unmix.report.drawing import png
from unmix.similarities import Dot
from unmix.spaces import Sphere

if TYPE_CHECKING:
    from unmix.papers.reproduction import Reproduction

CONDITIONAL = 10.0
CONCENTRATIONS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
DIMENSIONS = (DIMENSION, 3)
SHOWN = (
    "Dots are seeds, lines their means; grey is the R² of the observations themselves, the dotted line the "
    "conditional's concentration, and orange, on the second axis, the share of probability mass by which the marginal "
    "differs from the uniform law."
)


def mass_difference(concentration: float, dimension: int = DIMENSION) -> float:
    """½ ∫ |vMF(κ) − uniform|, the total variation between the two laws on the sphere.

    Both depend on the angle to μ alone, whose density under the uniform law is ∝ sin^{d−2}; d must be 3 or more.

    Examples
    --------
    >>> round(mass_difference(10.0), 3)
    0.795
    """
    sphere = Sphere(dimension)
    angle = torch.linspace(0, math.pi, 20_001, dtype=torch.float64)
    z = torch.zeros(len(angle), dimension, dtype=torch.float64)
    z[:, 0], z[:, 1] = angle.cos(), angle.sin()
    density = VonMisesFisher(concentration).log_prob(sphere, z, sphere.origin.expand_as(z)).exp()
    ring = math.exp(Sphere(dimension - 1).log_volume)  # all points at one angle
    apart = (density - math.exp(-sphere.log_volume)).abs() * angle.sin() ** (dimension - 2)
    return float(torch.trapezoid(apart, angle)) * ring / 2


def curve(found: Reproduction) -> tuple[bytes, str]:
    """A panel a dimension: R² and the mass difference against the marginal's concentration."""
    from matplotlib.figure import Figure  # slow to import

    figure = Figure(figsize=(11, 4.4), layout="constrained")
    for ax, dimension in zip(figure.subplots(1, len(DIMENSIONS)), DIMENSIONS, strict=True):
        rows = [row for row in found.rows if row.process.dimension == dimension]
        _panel(ax, found, rows, dimension)
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, fontsize=9, loc="outside upper center", ncols=len(names), frameon=False)
    return png(figure), f"{_falls(found)} {SHOWN}"


def _panel(ax: Any, found: Reproduction, rows: list[Row], dimension: int) -> None:
    at = [_concentration(row) for row in rows]
    for title, colour, whose in ((IDENTITY, "#9aa4ae", "observations"), (UNSUPERVISED, INK[None], "encoder")):
        cells = [found.cell(row.number, title) for row in rows]
        for x, cell in zip(at, cells, strict=True):
            ax.plot([x] * len(cell.values), cell.values, "o", color=colour, markersize=4, alpha=0.6, markeredgewidth=0)
        means = [math.nan if cell.mean is None else cell.mean for cell in cells]
        ax.plot(at, means, color=colour, linewidth=2, label=f"R² of the {whose}")
    ax.axvline(CONDITIONAL, color="#444444", linestyle=":", label=f"the conditional's concentration, {CONDITIONAL:g}")
    orange = "#c77c3a"
    ax.plot([], [], color=orange, linestyle="--", label="mass difference to uniform")
    ax.set_xscale("symlog", linthresh=1, linscale=0.5)
    ax.set_xticks(at, [f"{x:g}" for x in at], fontsize=8)
    ax.set(title=f"d = {dimension}", xlabel="concentration of the marginal; 0 is uniform", ylabel="held-out R² [%]")
    other = ax.twinx()
    other.plot(at, [100 * mass_difference(x, dimension) for x in at], color=orange, linestyle="--", linewidth=1.5)
    other.set_ylabel("mass difference [%]", color=orange)
    for side in (ax, other):
        side.set_ylim(0, 102)
        side.spines["top"].set_visible(False)


def _falls(found: Reproduction) -> str:
    """How R² changes from the broadest to the narrowest marginal, in words and as it was obtained."""
    sentences = []
    for dimension in DIMENSIONS:
        rows = [row for row in found.rows if row.process.dimension == dimension]
        cells = [found.cell(row.number, UNSUPERVISED) for row in rows]
        values = [f"{c.mean:.1f} at {_concentration(c.row):g}" for c in cells if c.mean is not None]
        if len(values) > 1:
            sentences.append(f"In {dimension} dimensions R² is {', '.join(values)}.")
    return " ".join(["R² of the encoder (blue) against the concentration of the marginal.", *sentences])


def _concentration(row: Row) -> float:
    law = setting.pairs(row).marginal
    return law.concentration if isinstance(law, VonMisesFisher) else 0.0


def _row(number: int, dimension: int, concentration: float) -> Row:
    marginal = VonMisesFisher(concentration) if concentration else Uniform()
    process = setting.world(Sphere(dimension), marginal, VonMisesFisher(CONDITIONAL))
    model = setting.published_model(outputs.Sphere(), Dot(), 1 / CONDITIONAL, dimension)
    return Row(number, (str(dimension), *setting.labels(process, model)[1:3]), process, model)


IDENTITY_COLUMN, _, UNSUPERVISED_COLUMN = setting.columns("r2")
EXHIBIT = Exhibit(
    name="zimmermann2021/figure2",
    title="A marginal that is not uniform: R² [%] against its concentration",
    reference=f"{setting.REFERENCE}, Figure 2 (numbers and setting are not published; this setting is ours)",
    heads=("d", "p(z)", "p(z̃|z)"),
    columns=(IDENTITY_COLUMN, replace(UNSUPERVISED_COLUMN, official=None)),
    rows=tuple(_row(n, *at) for n, at in enumerate(product(DIMENSIONS, CONCENTRATIONS), 1)),
    tested=AFFINE,
    picture=curve,
)
