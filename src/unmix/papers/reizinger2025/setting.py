"""What the tables share: the world, the published model, the two trainings and the official cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from unmix.encoders import MLP
from unmix.laws import Law
from unmix.mixings import MLP as MLPMixing
from unmix.model import Model
from unmix.objectives import DIET, CrossEntropy
from unmix.papers.effort import Effort
from unmix.papers.exhibit import Column, Published, Row
from unmix.papers.jobs import Classified
from unmix.papers.reizinger2025.official import ClassifierStep
from unmix.processes import ClusterProcess, Clusters, ClusterVectors
from unmix.spaces import Sphere
from unmix.sweeps import Job

REFERENCE = (
    "Reizinger, Bizeul, Juhos, Vogt, Balestriero, Brendel & Klindt, Cross-Entropy Is All You Need To Invert the Data "
    "Generating Process, ICLR 2025, arXiv 2410.21869"
)
OFFICIAL = (
    "Official: one step of the published setting in plain torch operations (the official code does not run), in CPU "
    "seconds of one thread, times 50,000 epochs of max(N // 1024, 1) steps. It is an upper bound in so far as a run "
    "may have been good enough earlier. The step is the fastest in five seconds."
)
PRINTED = (
    "The paper prints deviations over 5 seeds on the 0–1 scale with two decimals; they are shown here in points, so "
    "that 0.0 means less than 0.5."
)
TWO_RUNS = (
    "Subscript o: rows of the head of unit length, scored by linear maps; subscript a: free rows, scored by affine "
    "maps: two trainings. R² w is taken with rows held out at random, as in the paper; then rows of one class stand on "
    "both sides. “By cluster” holds out whole clusters. MAE is the mean distance of the singular values of the fitted "
    "map from 1/κ (z) or from 1 (w); “rel.” is that of z relative to 1/κ."
)
R2_Z = "R² z"


def world(
    dimension: int, clusters: ClusterVectors | int, conditional: Law, instances: int | None = None, noise: float = 0.0
) -> ClusterProcess:
    """Latents near cluster vectors on a sphere, mixed by four layers."""
    vectors = Clusters(clusters) if isinstance(clusters, int) else clusters
    return ClusterProcess(
        Sphere(dimension), vectors, conditional, MLPMixing(layers=4), instances=instances, label_noise=noise
    )


def published_model(objective: CrossEntropy, dimension: int) -> Model:
    """The official encoder, with batch norm, on observations as they are; β = 1."""
    return Model(MLP.paper(dimension, batch_norm=True), objective, whiten=False)


def percent(mean: float, std: float | None) -> Published:
    """R² as printed: in percent with one decimal, its deviation on the 0–1 scale."""
    return Published(mean, None if std is None else 100 * std, digits=1)


def trained(objective: CrossEntropy | None = None) -> Callable[[Row, Effort, int], Job]:
    """The job of a row: its own objective, or another one on the same process."""

    def job(row: Row, effort: Effort, seed: int) -> Job:
        process = clustered(row)
        model, recipe = effort(process, row.model if objective is None else replace(row.model, objective=objective))
        return Classified(process, model, recipe, seed)

    return job


def clustered(row: Row) -> ClusterProcess:
    assert isinstance(row.process, ClusterProcess)
    return row.process


def official(row: Row) -> tuple[Job, int]:
    """Seconds a step of the official setting, and its steps."""
    process = clustered(row)
    return ClassifierStep(process.dimension, process.labels), 50_000 * max(process.labels // 1024, 1)


UNIT, FREE = trained(DIET(unit_rows=True)), trained(DIET())
PUBLISHED = ("R²o z", "R²o w", "MAEo z", "R²a z", "R²a w")
COLUMNS = (
    Column(PUBLISHED[0], "r2_z", UNIT, official),
    Column(PUBLISHED[1], "r2_w", UNIT),
    Column("R²o w by cluster", "r2_w_clusters", UNIT),
    Column(PUBLISHED[2], "mae_z", UNIT, percent=False),
    Column("MAEo w", "mae_w", UNIT, percent=False),
    Column("rel. z", "orthogonality_z", UNIT, percent=False),
    Column(PUBLISHED[3], "r2_z", FREE),
    Column(PUBLISHED[4], "r2_w", FREE),
    Column("R²a w by cluster", "r2_w_clusters", FREE),
)
"""Of Tables 2 and 5: what is printed, and beside it what the printed scores hide."""


def diet_row(
    number: int,
    labels: tuple[str, ...],
    process: ClusterProcess,
    tick: bool | None,
    printed: tuple[Published, Published, float, Published, Published],
) -> Row:
    z, w, mae, z_free, w_free = printed
    published = dict(zip(PUBLISHED, (z, w, Published(mae, None, goal=False), z_free, w_free), strict=True))
    return Row(number, labels, process, published_model(DIET(), process.dimension), published, tick)
