"""Figure 2: two classifiers of 18 simulated classes become linearly alike while they train.

The paper prints neither architecture nor values. Ours: two outputs, three hidden layers of 128 units, Adam at 1e-4,
batch 128, 15,000 steps, on fresh rows. Its labels are the sectors themselves, so that the likelihood has no finite
maximum and the theorem does not apply; the second and third row draw them from a member of the model class, where it
does, and the third mixes the plane first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmix.encoders import MLP
from unmix.indeterminacy import AFFINE
from unmix.mixings import MLP as MLPMixing
from unmix.model import Model
from unmix.objectives import CrossEntropy
from unmix.papers.effort import Effort
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.pictures import INK
from unmix.papers.roeder2021.agreement import MOMENTS, Agreement
from unmix.processes import SectorProcess
from unmix.report.drawing import png
from unmix.sweeps import Job
from unmix.training import Recipe
from unmix.training.recipes import Adam, Constant

if TYPE_CHECKING:
    from unmix.papers.reproduction import Reproduction

REFERENCE = "Roeder, Metz & Kingma, On Linear Identifiability of Learned Representations, ICML 2021, arXiv 2007.00810"
MODEL = Model(MLP((128, 128, 128), skip=False), CrossEntropy(), whiten=False)
RECIPE = Recipe(MOMENTS[-1], 128, 1e-4, Adam(), Constant())


def _job(row: Row, effort: Effort, seed: int) -> Job:
    """The setting is our own declared choice, whatever the effort."""
    assert isinstance(row.process, SectorProcess)
    return Agreement(row.process, row.model, RECIPE, seed)


def curves(found: Reproduction) -> tuple[bytes, str]:
    """A column a row of the exhibit: mean CCA over training with its null above, aligned first dimensions below."""
    from matplotlib.figure import Figure  # slow to import

    rows = found.rows
    figure = Figure(figsize=(1 + 3.4 * len(rows), 6.2), layout="constrained")
    axes = figure.subplots(2, len(rows), squeeze=False)
    for above, below, row in zip(*axes, rows, strict=True):
        for run in found.cell(row.number, "CCA").reported:
            at = [max(point["step"], 10) for point in run.result["curve"]]
            above.plot(at, [p["cca"] for p in run.result["curve"]], "o-", color=INK[None], markersize=3, alpha=0.8)
            above.plot(at, [p["null"] for p in run.result["curve"]], "--", color="#9aa4ae", linewidth=1)
        for run in found.cell(row.number, "CCA").reported[:1]:
            x, y = zip(*run.result["dots"], strict=True)
            below.plot(x, y, "o", color=INK[None], markersize=2.5, alpha=0.5, markeredgewidth=0)
            ends = [min(x), max(x)]
            below.plot(ends, ends, color="#444444", linewidth=0.8, linestyle=":")
        above.set_title(", ".join(row.labels), fontsize=9)
        above.set(xscale="log", ylim=(-0.06, 1.03), xlabel="steps (10 stands for none)", ylabel="mean CCA, held out")
        below.set(xlabel="f, first dimension", ylabel="f′ mapped onto f, first dimension")
        for ax in (above, below):
            ax.spines[["top", "right"]].set_visible(False)
    return png(figure), _caption(found)


def _caption(found: Reproduction) -> str:
    cells = [found.cell(row.number, "CCA") for row in found.rows]
    starts = [found.cell(row.number, "CCA at the start") for row in found.rows]
    ends = [
        f"{', '.join(a.row.labels)}: from {b.mean:.1f} to {a.mean:.1f} %"
        for a, b in zip(cells, starts, strict=True)
        if a.mean is not None and b.mean is not None
    ]
    return (
        "Above: mean CCA of the embeddings of two classifiers, one line a seed, with what chance gives (dashed). "
        f"{'; '.join(ends)}. Below: the first output of one against that of the other after the best linear map, at "
        "the end of training."
    )


def _row(number: int, labels: tuple[str, str], process: SectorProcess) -> Row:
    return Row(number, labels, process, MODEL)


EXHIBIT = Exhibit(
    name="roeder2021/figure2",
    title="Two classifiers of 18 classes of the plane: mean CCA [%] of their embeddings",
    reference=f"{REFERENCE}, Figure 2 (values and architecture are not published; these are ours)",
    heads=("labels", "observations"),
    columns=(
        Column("CCA", "cca", _job),
        Column("CCA at the start", "cca_start", _job),
        Column("R² of f from f′", "r2", _job),
        Column("R² of z from f", "r2_z", _job),
        Column("accuracy", "accuracy", _job),
    ),
    rows=(
        _row(1, ("the sector", "the plane"), SectorProcess()),
        _row(2, ("drawn", "the plane"), SectorProcess(sharpness=1.0)),
        _row(3, ("drawn", "mixed"), SectorProcess(sharpness=1.0, mixing=MLPMixing(layers=3))),
    ),
    tested=AFFINE,
    picture=curves,
    notes=(
        "The tick says that the theorem applies: labels drawn from a member of the model class, with at least M + 1 of "
        "them. In row 1 labels are a function of x, so the likelihood grows without bound, and nothing is promised.",
        "Accuracy is the lower of the two classifiers'; R² of z the lower of their affine R².",
    ),
)
