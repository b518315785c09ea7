"""Table 5: DIET with cluster vectors of other laws."""

from __future__ import annotations

from unmix.indeterminacy import AFFINE
from unmix.laws import Laplace, Law, Normal, Uniform, VonMisesFisher
from unmix.papers.exhibit import Exhibit, Row
from unmix.papers.pictures import dots
from unmix.papers.reizinger2025 import setting
from unmix.papers.reizinger2025.setting import diet_row, percent
from unmix.processes import Clusters


def _row(number: int, law: Law, z: float, w: float, mae: float, z_free: float, w_free: float) -> Row:
    process = setting.world(5, Clusters(100, law), VonMisesFisher(10.0), 1000)
    scores = (percent(z, None), percent(w, None), mae, percent(z_free, None), percent(w_free, None))
    return diet_row(number, (str(law),), process, None, scores)


EXHIBIT = Exhibit(
    name="reizinger2025/table5",
    title="DIET by the law of the cluster vectors: R² [%] of latents and cluster vectors",
    reference=f"{setting.REFERENCE}, Table 5",
    heads=("p(v)",),
    columns=setting.COLUMNS,
    rows=(
        _row(1, Uniform(), 98.6, 99.9, 0.01, 99.0, 99.9),
        _row(2, Laplace(1.0), 98.7, 99.5, 0.01, 99.1, 99.8),
        _row(3, Normal(1.0), 98.2, 99.2, 0.01, 99.2, 99.8),
    ),
    tested=AFFINE,
    picture=dots,
    notes=(
        setting.TWO_RUNS,
        "Laplace and normal cluster vectors are drawn around the first axis with scale 1 and projected to the sphere; "
        "centre and scale are ours, the paper does not print them.",
    ),
)
