"""Runs that show the corollaries of docs/theory.md: trained by the very objectives that they are about.

`python docs/corollaries.py run` trains (a few minutes on one core) and writes corollaries.json beside this file;
`python docs/corollaries.py` writes the table in docs/theory.md from that file, and nothing else. Recipes were tuned on
seed 0; the seeds that are shown are others.
"""

import json
import sys
from pathlib import Path

import numpy as np
from blocks import with_block

import unmix as um
from unmix.indeterminacy import GeneralisedPermutation, Indeterminacy
from unmix.measures import UpTo
from unmix.measures.truth import truth_door
from unmix.sheets import markdown_row

PAGE = Path(__file__).parent / "theory.md"
KEPT = PAGE.with_name("corollaries.json")
SEEDS, ROWS = (1, 2, 3), 8192
MIXING, ENCODER = um.mixings.MLP(layers=2), um.encoders.MLP((32, 32))


def box(law: um.laws.Law, p: float, extent: um.outputs.Box) -> tuple[um.Process, um.Model]:
    process = um.PairProcess(um.Box(2), um.Uniform(), law, MIXING)
    return process, um.Model(ENCODER, um.InfoNCE(um.Lp(p)), extent)


def sphere() -> tuple[um.Process, um.Model]:
    process = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), MIXING)
    return process, um.Model(ENCODER, um.InfoNCE(um.Lp(2), temperature=0.2), um.outputs.Sphere())


def classes() -> tuple[um.Process, um.Model]:
    process = um.ClusterProcess(um.Sphere(3), um.Clusters(40), um.VonMisesFisher(10.0), MIXING)
    return process, um.Model(ENCODER, um.CrossEntropy(unit_rows=True))


WIDE, SHARP, NARROW = um.Normal(0.1), um.Laplace(0.1), um.GeneralisedNormal(3.0, 0.15)
SETTINGS = {
    "box, −L1, extent learned": box(SHARP, 1, um.outputs.Box()),
    "box, −L3³, extent learned": box(NARROW, 3, um.outputs.Box()),
    "box, −L2², extent fixed where it fits": box(WIDE, 2, um.outputs.Box(50**0.5, learnable=False)),
    "box, −L2², extent learned, from 2 on": box(WIDE, 2, um.outputs.Box()),
    "box, −L2², extent learned, from 30 on": box(WIDE, 2, um.outputs.Box(30.0)),
    "sphere, −L2², κ = 2r²/τ": sphere(),
    "class labels, unit rows": classes(),
}


def recipe(process: um.Process) -> um.Recipe:
    return um.recipes.fast(steps=2000, batch=512, rate=1e-2)


def scores(name: str, seed: int) -> dict[str, float]:
    """Held-out R² up to affine maps, up to the promised class, and up to generalised permutations with offset."""
    process, model = SETTINGS[name]
    process = process.with_seed(seed)
    used = recipe(process)
    assert used.trained(model) == model  # the objective of the theorem, and no other
    fit = um.fit(process, model, used, seed=seed, progress=False)
    rows = process.sample(ROWS, um.stream(seed, "evaluation"))
    paired = truth_door(fit.embed(rows.x).double().numpy(), rows.z.double().numpy())

    def r2(up_to: Indeterminacy) -> float:
        return float(np.mean([UpTo(up_to).score(*split) for split in paired.folds.splits()]))

    promise = um.guarantee(process, model).promise
    assert promise is not None
    permuted = GeneralisedPermutation(offset=True)
    return {"affine": r2(um.indeterminacy.AFFINE), "promised": r2(promise), "permuted": r2(permuted)}


def table() -> str:
    kept = json.loads(KEPT.read_text())
    heads = ["setting", "promised", "R² up to it", "affine R²", "up to generalised permutations"]
    lines = [markdown_row(heads), "|" + "---|" * len(heads)]
    for name, (process, model) in SETTINGS.items():
        found = [kept[name][str(seed)] for seed in SEEDS]
        shown = [", ".join(f"{100 * f[which]:.2f}" for f in found) for which in ("promised", "affine", "permuted")]
        lines.append(markdown_row([name, f"**{um.guarantee(process, model).promise}**", *shown]))
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with the table made anew."""
    return with_block(page, "corollaries", table())


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        found = {name: {str(seed): scores(name, seed) for seed in SEEDS} for name in SETTINGS}
        KEPT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(written(PAGE.read_text()))
