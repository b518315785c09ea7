"""What Tables 1 and 2 share: the world, the published model, the three columns and the official cost."""

from __future__ import annotations

from dataclasses import replace

from unmix.encoders import MLP, outputs
from unmix.encoders.outputs import Output
from unmix.laws import Law
from unmix.mixings import MLP as MLPMixing
from unmix.model import Model
from unmix.objectives import InfoNCE, Regression
from unmix.papers.effort import Effort
from unmix.papers.exhibit import Column, Row
from unmix.papers.jobs import Trained, Untrained
from unmix.papers.zimmermann2021.official import OfficialStep
from unmix.processes import PairProcess
from unmix.similarities import Dot, Lp
from unmix.spaces import Box, Euclidean, Space, Sphere
from unmix.sweeps import Job

REFERENCE = (
    "Zimmermann, Sharma, Schneider, Bethge & Brendel, Contrastive Learning Inverts the Data Generating Process, "
    "ICML 2021, arXiv 2102.08850"
)
DIMENSION, OFFICIAL_STEPS = 10, 300_003
OFFICIAL = (
    "Official: one step of the published setting in plain torch operations (the official code itself is not run), "
    "in CPU seconds of one thread, with the loss on 512 of the 6144 anchors times 12, multiplied by the official "
    "300,003 steps. It is an upper bound in so far as a run may have been good enough earlier."
)
LOCAL = (
    "In the box rows negatives come from neighbourhoods and are seen through a wider kernel. The former keeps the "
    "optimum where q(z̃|z) is the conditional's own family, and moves it where it is another one; the latter moves it "
    "near the boundary of the box."
)
IDENTITY, SUPERVISED, UNSUPERVISED = "identity", "supervised", "unsupervised"
SPACE_NAMES: dict[type, str] = {
    Sphere: "Sphere", Box: "Box", Euclidean: "Unbounded",
    outputs.Sphere: "Sphere", outputs.Box: "Box", outputs.Free: "Unbounded",
}  # fmt: skip
LAW_NAMES = {1: "Laplace", 2: "Normal", 3: "GenNorm(β=3)"}


def world(space: Space, marginal: Law, conditional: Law) -> PairProcess:
    """Latents mixed by three layers."""
    return PairProcess(space, marginal, conditional, MLPMixing(layers=3))


def published_model(
    output: Output, similarity: Dot | Lp, temperature: float = 1.0, dimension: int = DIMENSION
) -> Model:
    """The official encoder and InfoNCE, with τ = 1 in the tables."""
    return Model(MLP.paper(dimension), InfoNCE(similarity, temperature), output, whiten=False)


def labels(process: PairProcess, model: Model) -> tuple[str, ...]:
    """Space, marginal, conditional, the model's space and the model's conditional, in the paper's words."""
    objective = model.objective
    assert isinstance(objective, InfoNCE)
    similarity = objective.similarity
    believed = LAW_NAMES[int(similarity.p)] if isinstance(similarity, Lp) else f"vMF(κ={1 / objective.temperature:g})"
    return (
        SPACE_NAMES[type(process.space)],
        str(process.marginal),
        str(process.conditional),
        SPACE_NAMES[type(model.output)],
        believed,
    )


def columns(score: str) -> tuple[Column, ...]:
    """Identity, supervised and unsupervised, by one score."""
    return (
        Column(IDENTITY, score, _identity),
        Column(SUPERVISED, score, _supervised),
        Column(UNSUPERVISED, score, unsupervised, official),
    )


def unsupervised(row: Row, effort: Effort, seed: int) -> Job:
    model, recipe = effort(row.process, row.model)
    return Trained(pairs(row), model, recipe, seed)


def official(row: Row) -> tuple[Job, int]:
    """Seconds a step of the official code, and its steps."""
    objective = row.model.objective
    assert isinstance(objective, InfoNCE)
    return OfficialStep(objective.similarity), OFFICIAL_STEPS


# Neither of these looks at the second view: rows that differ in the conditional alone share the run, as published.


def _identity(row: Row, effort: Effort, seed: int) -> Job:
    return Untrained(_without_views(row), seed)


def _supervised(row: Row, effort: Effort, seed: int) -> Job:
    process = _without_views(row)
    model, recipe = effort(process, replace(row.model, objective=Regression()))
    return Trained(process, model, recipe, seed)


def _without_views(row: Row) -> PairProcess:
    process = pairs(row)
    return replace(process, conditional=process.marginal)


def pairs(row: Row) -> PairProcess:
    assert isinstance(row.process, PairProcess)
    return row.process
