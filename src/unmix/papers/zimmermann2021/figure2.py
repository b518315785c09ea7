"""Figure 2: what happens when the marginal is not uniform.

The paper plots R² against the concentration of the marginal, with the conditional's fixed, and prints neither values
nor setting. The setting here is ours: a sphere, a von Mises-Fisher marginal swept through a conditional vMF(10), and a
model that matches the conditional, so that Theorem 2 holds at concentration 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from unmix.encoders import outputs
from unmix.indeterminacy import AFFINE
from unmix.laws import Uniform, VonMisesFisher
from unmix.model import Model
from unmix.objectives import InfoNCE
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.pictures import INK, png
from unmix.papers.zimmermann2021 import setting
from unmix.papers.zimmermann2021.setting import DIMENSION, IDENTITY, UNSUPERVISED
from unmix.similarities import Dot
from unmix.spaces import Sphere

if TYPE_CHECKING:
    from unmix.papers.reproduction import Reproduction

CONDITIONAL = 10.0
CONCENTRATIONS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
CAPTION = (
    "R² stays near 100 % while the marginal is broader than the conditional (left of the dotted line), and collapses "
    "once it is more concentrated, towards what the observations alone give (grey). Dots are seeds, the line their "
    "mean; on the second axis the share of probability mass by which the marginal differs from the uniform law."
)


def mass_difference(concentration: float, dimension: int = DIMENSION) -> float:
    """½ ∫ |vMF(κ) − uniform|, the total variation between the two laws on the sphere.

    Both depend on the angle to μ alone, whose density under the uniform law is ∝ sin^{d−2}; d must be 3 or more.

    Examples
    --------
    >>> mass_difference(0.0), round(mass_difference(10.0), 3)
    (0.0, 0.783)
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
    """R² and the mass difference against the marginal's concentration."""
    from matplotlib.figure import Figure  # slow to import

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.subplots()
    at = np.array([CONCENTRATIONS[row.number - 1] for row in found.rows])
    for title, colour in ((IDENTITY, "#9aa4ae"), (UNSUPERVISED, INK[None])):
        cells = [found.cell(row.number, title) for row in found.rows]
        for x, cell in zip(at, cells, strict=True):
            ax.plot([x] * len(cell.values), cell.values, "o", color=colour, markersize=4, alpha=0.6, markeredgewidth=0)
        means = [math.nan if cell.mean is None else cell.mean for cell in cells]
        label = "the encoder" if title == UNSUPERVISED else "the observations"
        ax.plot(at, means, color=colour, linewidth=2, label=f"R² of {label}")
    ax.axvline(
        CONDITIONAL, color="#444444", linestyle=":", linewidth=1.5, label=f"the conditional's, κ = {CONDITIONAL:g}"
    )
    ax.set_xscale("symlog", linthresh=1, linscale=0.5)
    ax.set_xticks(at, [f"{x:g}" for x in at])
    ax.set(xlabel="concentration of the marginal vMF(κ); 0 is uniform", ylabel="held-out R² [%]", ylim=(0, 102))
    other = ax.twinx()
    other.plot(at, [100 * mass_difference(x) for x in at], color="#c77c3a", linestyle="--", linewidth=1.5,
               label="mass difference to the uniform law")  # fmt: skip
    other.set(ylabel="mass difference to uniform [%]", ylim=(0, 102))
    lines = [*ax.get_lines(), *other.get_lines()]
    named = [line for line in lines if not str(line.get_label()).startswith("_")]
    ax.legend(handles=named, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    for side in (ax, other):
        side.spines["top"].set_visible(False)
    return png(figure), CAPTION


def _row(number: int, concentration: float) -> Row:
    marginal = VonMisesFisher(concentration) if concentration else Uniform()
    process = setting.world(Sphere(DIMENSION), marginal, VonMisesFisher(CONDITIONAL))
    model = Model(objective=InfoNCE(Dot(), temperature=1 / CONDITIONAL), output=outputs.Sphere())
    return Row(number, setting.labels(process, model)[1:3], process, model)


IDENTITY_COLUMN, _, UNSUPERVISED_COLUMN = setting.columns("r2")
EXHIBIT = Exhibit(
    name="zimmermann2021/figure2",
    title="A marginal that is not uniform: R² [%] against its concentration",
    reference=f"{setting.REFERENCE}, Figure 2 (numbers and setting are not published; this setting is ours)",
    heads=("p(z)", "p(z̃|z)"),
    columns=(IDENTITY_COLUMN, Column(UNSUPERVISED, "r2", setting.unsupervised)),
    rows=tuple(_row(number, concentration) for number, concentration in enumerate(CONCENTRATIONS, 1)),
    tested=AFFINE,
    picture=curve,
)
