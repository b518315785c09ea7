"""The theorems in docs/theory.md, made from src/unmix/theory and from nothing else.

`python docs/theory_page.py` writes them anew. What a theorem promises can depend on the process and the model, so it
is asked of the examples below, and must hold of them.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

from blocks import with_block

import unmix as um
from unmix.indeterminacy import LADDER, ScaledPermutation
from unmix.sheets import markdown_row
from unmix.theory import Theorem, corollaries, reizinger2025, roeder2021, zimmermann2021
from unmix.theory.guarantee import THEOREMS

PAGE = Path(__file__).parent / "theory.md"
SUBJECTS = """import numpy as np

import unmix as um

sphere = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(10.0), um.mixings.MLP(pool=100))
laplace = um.PairProcess(um.Box(3), um.Uniform(), um.Laplace(0.05), um.mixings.MLP(pool=100))
normal = um.PairProcess(um.Box(3), um.Uniform(), um.Normal(0.05), um.mixings.MLP(pool=100))
clusters = um.ClusterProcess(um.Sphere(3), um.Clusters(50), um.VonMisesFisher(10.0), um.mixings.MLP(pool=100))
few = um.ClusterProcess(um.Sphere(3), um.Clusters(5), um.VonMisesFisher(10.0), um.mixings.MLP(pool=100))
sectors = um.SectorProcess(sharpness=5.0)
f, g = np.random.default_rng(0).normal(size=(2, 50, 3))
"""
EXAMPLES: dict[Theorem, tuple[tuple[str, ...], ...]] = {  # (process, objective, output), or two models
    zimmermann2021.THEOREM_2: (
        ("sphere", "um.InfoNCE(um.Dot(), 0.1)", "um.outputs.Sphere()"),
        ("sphere", "um.InfoNCE(um.Dot(), learn_temperature=True)", "um.outputs.Sphere(2.0)"),
    ),
    zimmermann2021.THEOREM_5: (("normal", "um.InfoNCE(um.Lp(2))", "um.outputs.Box()"),),
    zimmermann2021.THEOREM_6: (("laplace", "um.InfoNCE(um.Lp(1))", "um.outputs.Box()"),),
    reizinger2025.C1: (("clusters", "um.DIET(unit_rows=True, learn_temperature=True)", "um.outputs.Sphere()"),),
    reizinger2025.C2: (("clusters", "um.DIET(temperature=0.1)", "um.outputs.Sphere()"),),
    reizinger2025.C3: (("clusters", "um.DIET(unit_rows=True)", "um.outputs.Free()"),),
    reizinger2025.C4: (("clusters", "um.DIET()", "um.outputs.Free()"),),
    reizinger2025.SUPERVISED: (("clusters", "um.CrossEntropy()", "um.outputs.Free()"),),
    reizinger2025.LINEAR_PART: (("few", "um.DIET(unit_rows=True)", "um.outputs.Free()"),),
    roeder2021.THEOREM_1: (
        ("um.CanonicalModel(f, g)", "um.CanonicalModel(2 * f, g / 2)"),
        ("um.CanonicalModel(f, g)", "um.CanonicalModel(f, g, bias=g[:, 0])"),
    ),
    roeder2021.THEOREM_1_REALISED: (("sectors", "um.CrossEntropy()", "um.outputs.Free()"),),
    corollaries.ONE_SCALE: (
        ("normal", "um.InfoNCE(um.Lp(2))", "um.outputs.Box()"),
        ("normal", "um.InfoNCE(um.Lp(2))", "um.outputs.Box(200**0.5, learnable=False)"),
        ("normal", "um.InfoNCE(um.Lp(2), 0.005)", "um.outputs.Box(1.0, learnable=False)"),
        ("laplace", "um.InfoNCE(um.Lp(1))", "um.outputs.Box()"),
    ),
    corollaries.DISTANCE_ON_A_SPHERE: (("sphere", "um.InfoNCE(um.Lp(2), 0.2)", "um.outputs.Sphere()"),),
    corollaries.C1: (("clusters", "um.CrossEntropy(unit_rows=True, learn_temperature=True)", "um.outputs.Sphere()"),),
    corollaries.C2: (("clusters", "um.CrossEntropy(temperature=0.1)", "um.outputs.Sphere()"),),
    corollaries.C3: (("clusters", "um.CrossEntropy(unit_rows=True)", "um.outputs.Free()"),),
    corollaries.C4: (("clusters", "um.CrossEntropy()", "um.outputs.Free()"),),
    corollaries.LINEAR_PART: (("few", "um.CrossEntropy(unit_rows=True)", "um.outputs.Free()"),),
}
PAPERS: tuple[tuple[ModuleType, str], ...] = (
    (zimmermann2021, "Pairs: Zimmermann et al. 2021"),
    (reizinger2025, "Classes and instances: Reizinger et al. 2025"),
    (roeder2021, "Two models of the same labels: Roeder et al. 2021"),
    (corollaries, "Corollaries of our own"),
)


def theorems(paper: ModuleType) -> list[Theorem]:
    """Those of the file that `guarantee` or `compare_models` ask."""
    asked = [roeder2021.THEOREM_1, *(t for found in THEOREMS.values() for t in found)]
    return [t for t in asked if t in vars(paper).values()]


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join([markdown_row(heads), "|" + "---|" * len(heads), *map(markdown_row, rows)])


def assumed(found: list[Theorem]) -> str:
    """Which theorem needs which assumption."""
    statements = dict.fromkeys(a.statement for t in found for a in t.assumptions)
    needed = {t: {a.statement for a in t.assumptions} for t in found}
    return table(
        ["assumption", *(t.name for t in found)],
        [[s, *("✓" if s in needed[t] else "" for t in found)] for s in statements],
    )


def promised(found: list[Theorem], names: dict[str, Any]) -> str:
    """What each theorem promises of its examples."""
    rows = []
    for t in found:
        for example in EXAMPLES[t]:
            said, head = promise(t, example, names)
            rows.append([t.name, f"**{said}**", head, ", ".join(f"`{part}`" for part in example)])
    with_head = any(row[2] for row in rows)
    heads = ["theorem", "promises of f", "of the head", "for example"]
    kept = [i for i in range(4) if i != 2 or with_head]
    return table([heads[i] for i in kept], [[row[i] for i in kept] for row in rows])


def promise(t: Theorem, example: tuple[str, ...], names: dict[str, Any]) -> tuple[str, str]:
    """What is promised of an example for which the theorem holds: of f, and of the head."""
    values = [eval(part, names) for part in example]
    if len(values) == 2:
        assert not t.violated(*values), (t.name, example)
        return str(t.promise(*values)), ""
    process, objective, output = values
    model = um.Model(um.encoders.MLP(), objective, output)
    found = um.guarantee(process, model)
    head = t.head(process, model, None) if t.head else None
    return str(found.promises[t]), str(head.up_to) if head else ""


def paper_block(paper: ModuleType, title: str, names: dict[str, Any]) -> str:
    found = theorems(paper)
    about = "\n\n".join(part.replace("\n", " ") for part in (paper.__doc__ or "").strip().split("\n\n"))
    return "\n\n".join([f"## {title}", about, promised(found, names), assumed(found)])


def theorems_block() -> str:
    names: dict[str, Any] = {}
    exec(SUBJECTS, names)
    return "\n\n".join(paper_block(*paper, names) for paper in PAPERS) + "\n"


def ladder_block() -> str:
    """The classes of maps without offset, smaller before larger, and the one that is only promised."""
    rows = []
    for c in (*(c for c in LADDER if not c.offset), ScaledPermutation()):
        above = " and ".join(larger.name for larger in c.contained_in) or "–"
        rows.append([str(c), (type(c).__doc__ or "").split("\n")[0], above, f"`{type(c).__name__}()`"])
    return table(["class", "its maps", "contained in", "in `um.indeterminacy`"], rows) + "\n"


def written(page: str) -> str:
    """The page with its parts made anew."""
    page = with_block(page, "ladder", ladder_block())
    page = with_block(page, "subjects", f"```python\n{SUBJECTS}```\n")
    return with_block(page, "theorems", theorems_block())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
