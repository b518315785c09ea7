"""The demo's score and time, three seeds."""

from __future__ import annotations

import unmix as um
from benchmarks.measure import Row
from unmix.cli.demo import setting
from unmix.cli.run import EVALUATION_ROWS

GOAL = 0.995


def rows() -> list[Row]:
    found = []
    for seed in range(3):
        process, model = setting(seed)
        fitted = um.fit(process, model, seed=seed, progress=False)
        pairs = process.sample(EVALUATION_ROWS, um.stream(seed, "evaluation"))
        r2 = um.recovery(fitted.embed(pairs.x), pairs.z, seed=seed).r2()
        before = um.recovery(pairs.x, pairs.z, seed=seed).r2()
        found.append(
            Row(f"demo, seed {seed}: held-out R²", f"{100 * r2:.2f} % in {fitted.seconds:.0f} s",
                f"{100 * before:.2f} % (the mixing)", r2, "≥ 0.995", r2 >= GOAL)
        )  # fmt: skip
    return found
