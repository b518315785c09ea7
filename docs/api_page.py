"""The page docs/api.md: what `import unmix as um` gives, in groups. `python docs/api_page.py` writes it."""

from functools import reduce
from pathlib import Path
from typing import Any

import unmix as um

PAGE = Path(__file__).parent / "api.md"
GROUPS = {
    "Worlds: where latents live, how they are drawn, how they become observations": """
        PairProcess Pairs ClusterProcess Clusters GivenClusters SectorProcess Process
        Sphere Box Euclidean
        Uniform VonMisesFisher Normal Laplace GeneralisedNormal Truncated laws.Law laws.AdditiveLaw
        mixings.MLP mixings.Smooth mixings.Linear mixings.Identity mixings.LayeredMap mixings.Mixing""",
    "Models: an encoder, where its output lies, what it is trained on": """
        Model encoders.MLP encoders.Encoder outputs.Sphere outputs.Box outputs.Free
        InfoNCE objectives.info_nce Dot Lp LpNorm similarities.Similarity
        CrossEntropy DIET objectives.cross_entropy Regression objectives.Objective""",
    "Theory: what is promised beforehand, and up to which maps": """
        guarantee Guarantee theory.Theorem theory.Assumption theory.Answer theory.Mark theory.HeadPromise
        indeterminacy.Indeterminacy indeterminacy.Identity indeterminacy.SignedPermutation
        indeterminacy.ScaledPermutation indeterminacy.GeneralisedPermutation indeterminacy.Orthogonal
        indeterminacy.ScaledOrthogonal indeterminacy.Linear indeterminacy.FittedMap""",
    "Training: a run, how long and how fast it goes, what is kept": """
        fit Fit Optimality load Recipe recipes.suited recipes.fast recipes.paper recipes.OneCycle recipes.Constant
        recipes.SOAP recipes.Adam recipes.Fresh recipes.Local recipes.EvenLabels stream
        callbacks.Callback callbacks.TensorBoard callbacks.MLflow Interrupted TrainingDiverged RunFolderError""",
    "Recovery: up to what an embedding equals known latents": """
        recovery Recovery mcc cluster_recovery ClusterRecovery""",
    "Audit: an embedding and known variables": """
        audit AuditReport factors.Continuous factors.Ordinal factors.Periodic factors.Categorical""",
    "Comparison: two or more representations of the same rows": """
        compare Comparison compare_layers LayerComparison compare_models ModelComparison CanonicalModel""",
    "Measures: what a comparison scores by": """
        measures.R2 measures.UpTo measures.CCA measures.SVCCA measures.PWCCA measures.Procrustes measures.CKA
        measures.MCC measures.ICA measures.Neighbours measures.RSA measures.DistanceCorrelation measures.KernelCKA
        measures.Score measures.Refusal measures.Measure measures.LinearMeasure measures.RowMeasure measures.Change""",
    "Papers: their tables and figures as data, run again": """
        reproduce Reproduction papers.catalogue papers.exhibit_named papers.read papers.Exhibit papers.Row
        papers.Column papers.Published papers.Cell papers.Trained papers.Untrained papers.Classified""",
    "Estimators: the objectives as scikit-learn has it, on rows of one's own": """
        estimators.ContrastiveEncoder estimators.DIETEncoder estimators.CrossEntropyEncoder
        estimators.EncoderEstimator estimators.Jitter estimators.load""",
    "Activations: representations out of trained networks": """
        activations.record activations.Activations activations.load activations.head activations.pretrained""",
    "Tables and errors: rows from arrays and files, and what is raised at the door": """
        tables.read tables.Table InputError""",
}


def found(name: str) -> Any:
    return reduce(getattr, name.split("."), um)


def entry(name: str) -> str:
    """An instruction to mkdocstrings, by the place where the object is defined."""
    thing = found(name)
    place = f"{thing.__module__}.{thing.__qualname__}"
    return f"::: {place}\n    options:\n      heading: um.{name}\n      toc_label: {name}\n"


def written(page: str = "") -> str:
    parts = ["# API\n", "What `import unmix as um` gives. Bad input raises `um.InputError`, with the remedy.\n"]
    for title, names in GROUPS.items():
        head, about = title.split(": ")
        parts += [f"## {head}\n", f"{about[0].upper()}{about[1:]}.\n", *map(entry, names.split())]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written())
