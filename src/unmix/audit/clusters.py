"""What a classifier trained on a cluster-centric process has recovered: latents, cluster vectors, scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unmix.errors import require, require_kind
from unmix.indeterminacy import Linear
from unmix.measures import Recovery, recovery
from unmix.measures.head import HeadRecovery, head_recovery, map_of, orthogonality_error
from unmix.objectives import DIET, CrossEntropy
from unmix.objectives.cross_entropy import Head
from unmix.processes import ClusterProcess
from unmix.randomness import stream
from unmix.theory import Guarantee, HeadPromise, guarantee
from unmix.theory.reizinger2025 import C3_AS_PUBLISHED, head_c3
from unmix.training import Fit

EVALUATION_ROWS = 16_384


@dataclass(frozen=True, eq=False, repr=False)
class ClusterRecovery:
    """Scores of latents and head, each in the class of maps that its case asks for.

    Attributes
    ----------
    promise : what theory says of what was trained.
    expected : the scales at the head's β that the fitted maps are held against: those of the promise, or of C3 as the
        paper states it; None where no rotation is expected.
    up_to : the class that R² is taken up to: linear where the head's rows have unit length, affine where they are free,
        as in the paper.
    beta : 1/temperature, as it ended.
    """

    latents: Recovery
    head: HeadRecovery
    promise: Guarantee
    expected: HeadPromise | None
    up_to: Linear
    beta: float

    @property
    def scores(self) -> dict[str, float]:
        """Every score by its name; those that do not apply are not there.

        r2_z, r2_w : R² of z from f(x), and of v from w with rows held out at random (which leaks). r2_w_clusters : with
        whole clusters held out. orthogonality_z, _w : relative distance of the singular values of these two maps from
        what is expected; mae_z, mae_w : the same, absolute, as the paper has it. collapse : of rows within classes, if
        a class has more than one.
        beta : as it ended.
        """
        head = self.head
        found = {"r2_z": self.latents.r2(self.up_to), "beta": self.beta}
        if head.collapse is not None:
            found["collapse"] = head.collapse
        for name, part in (("r2_w", head.rows), ("r2_w_clusters", head.clusters)):
            if part is not None:
                found[name] = part.r2(self.up_to)
        scales = (self.expected.scale, self.expected.row_scale) if self.expected else (None, None)
        for letter, part, scale in zip("zw", (self.latents, head.rows), scales, strict=True):
            if part is not None and scale is not None:
                error = orthogonality_error(map_of(part, self.up_to.offset), 1 / scale)
                found[f"orthogonality_{letter}"], found[f"mae_{letter}"] = error
        return found

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings, for JSON."""
        return {"scores": self.scores, "up_to": str(self.up_to), "latents": self.latents.as_dict()}

    def __str__(self) -> str:
        leaks = "" if self.head.collapse is None else " (leaks)"
        names = {
            "r2_z": f"R² of z from f(x), {self.up_to}",
            "r2_w": f"R² of v from w, {self.up_to}, rows held out{leaks}",
            "r2_w_clusters": f"R² of v from w, {self.up_to}, clusters held out",
            "orthogonality_z": "f(x) → z: relative distance from a rotation of the expected scale",
            "mae_z": "the same, absolute (the paper's MAE)",
            "orthogonality_w": "w → v: relative distance from a rotation of the expected scale",
            "mae_w": "the same, absolute (the paper's MAE)",
            "collapse": "spread of the rows of one class, as a share of all",
            "beta": "β",
        }
        scores = self.scores
        return "\n".join(f"{text:67} {scores[name]:8.4f}" for name, text in names.items() if name in scores)

    def __repr__(self) -> str:
        return "ClusterRecovery(" + ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items()) + ")"


def cluster_recovery(fit: Fit, *, rows: int = EVALUATION_ROWS, seed: int | None = None) -> ClusterRecovery:
    """Score a fit to a cluster-centric process on fresh rows, and its head on the cluster vectors.

    Parameters
    ----------
    rows : fresh rows for the latents.
    seed : of these rows and of the folds; None is the fit's own.

    Examples
    --------
    >>> import unmix as um
    >>> world = um.ClusterProcess(um.Sphere(3), um.Clusters(40), um.VonMisesFisher(9.0), um.mixings.Linear(pool=9))
    >>> fit = um.fit(world, um.Model(objective=um.CrossEntropy()), um.Recipe(300, 256, 2e-2), progress=False)
    >>> um.cluster_recovery(fit).scores["r2_z"] > 0.9
    True
    """
    process, objective = fit.process, fit.model.objective
    require_kind(process, ClusterProcess, "the fit's process", "um.ClusterProcess(...)")
    require_kind(objective, CrossEntropy, "the fit's objective", "um.DIET() or um.CrossEntropy()")
    head = fit.network.loss
    assert isinstance(process, ClusterProcess)
    assert isinstance(objective, CrossEntropy)
    assert isinstance(head, Head)
    require(rows >= 2, f"scores need rows to be taken on, not {rows}.")
    seed = fit.seed if seed is None else seed
    fresh = process.sample(rows, stream(seed, "evaluation"))
    latents = recovery(fit.embed(fresh.x), fresh.z, seed=seed)
    classes = process.class_of if isinstance(objective, DIET) else process.class_of[: process.classes]
    classes = classes if head.among is None else classes[head.among]  # of a run that was stopped
    found = head_recovery(head.rows().detach(), process.vectors, classes, seed=seed)
    beta = head.beta.item()
    trained = fit.recipe.trained(fit.model)
    promise = guarantee(process, trained, beta)
    expected = promise.head
    if not C3_AS_PUBLISHED.violated(process, trained):  # also where its diversity is not enough to promise it
        expected = head_c3(process, trained, beta)
    return ClusterRecovery(latents, found, promise, expected, Linear(offset=not objective.unit_rows), beta)
