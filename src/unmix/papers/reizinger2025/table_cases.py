"""The four cases of Theorem 1, two of which (C1 and C2) the paper does not test."""

from __future__ import annotations

from dataclasses import replace

from unmix.encoders import outputs
from unmix.encoders.outputs import Output
from unmix.indeterminacy import AFFINE
from unmix.laws import VonMisesFisher
from unmix.objectives import DIET
from unmix.papers.exhibit import Column, Exhibit, Row
from unmix.papers.pictures import dots
from unmix.papers.reizinger2025 import setting

CASES: dict[str, tuple[Output, DIET]] = {
    "C1": (outputs.Sphere(), DIET(unit_rows=True, learn_temperature=True)),
    "C2": (outputs.Sphere(), DIET(learn_temperature=True)),  # or else rows would have to grow to κ/β
    "C3": (outputs.Free(), DIET(unit_rows=True)),
    "C4": (outputs.Free(), DIET()),
}
UNIT = {True: "unit", False: "free"}


def _row(number: int, case: str, d: int, kappa: float) -> Row:
    process = setting.world(d, 100, VonMisesFisher(kappa), 1000)
    output, objective = CASES[case]
    model = replace(setting.published_model(objective, d), output=output)
    of_unit_length = UNIT[isinstance(output, outputs.Sphere)], UNIT[objective.unit_rows]
    return Row(number, (case, *of_unit_length, str(d), f"{kappa:g}"), process, model)


JOB = setting.trained()
EXHIBIT = Exhibit(
    name="reizinger2025/table_cases",
    title="DIET in the four cases of Theorem 1: what each promises, and what is found",
    reference=f"{setting.REFERENCE}, Theorem 1 (the paper tests C3 and C4 alone; this table is ours)",
    heads=("case", "f(x)", "rows", "d", "κ"),
    columns=(
        Column("R² z", "r2_z", JOB),
        Column("R² w", "r2_w", JOB),
        Column("R² w by cluster", "r2_w_clusters", JOB),
        Column("rel. z", "orthogonality_z", JOB, percent=False),
        Column("rel. w", "orthogonality_w", JOB, percent=False),
        Column("collapse", "collapse", JOB, percent=False),
        Column("β/κ", "beta_over_kappa", JOB, percent=False),
    ),
    rows=(
        _row(1, "C1", 5, 10.0),
        _row(2, "C1", 5, 5.0),
        _row(3, "C1", 5, 50.0),
        _row(4, "C1", 10, 10.0),
        _row(5, "C2", 5, 10.0),
        _row(6, "C2", 5, 5.0),
        _row(7, "C2", 5, 50.0),
        _row(8, "C2", 10, 10.0),
        _row(9, "C3", 5, 10.0),
        _row(10, "C4", 5, 10.0),
    ),
    tested=AFFINE,
    picture=dots,
    notes=(
        "“rel.” is the mean relative distance of the singular values of the fitted map f(x) → z (or w → v) from the "
        "scale that the case predicts: 1 and 1 in C1, 1 and β/κ in C2, β/κ and 1 in C3; C4 predicts none. “Collapse” "
        "is the share of the rows' spread that lies within classes, 0 in theory. In C1 and C2 β is learned; "
        "theory says κ in C1 and anything in C2, where rows make up for it. It is 1 in C3 and C4.",
    ),
)
