"""True against recovered, on held-out rows, for a picture."""

from __future__ import annotations

from math import pi

import numpy as np

from unmix.audit.classes import Columns
from unmix.audit.discriminant import discriminant
from unmix.audit.finding import Panel
from unmix.factors import Factor, Periodic
from unmix.indeterminacy import AFFINE
from unmix.measures.paired import Paired

POINTS = 1500


def panel(paired: Paired, factor: Factor, columns: Columns) -> Panel:
    """Of the sampled rows, those of the first fold by the map fitted on the others; of classes, all of them."""
    sample, chosen = paired.sample, list(columns)
    splits = paired.folds.splits()
    nothing = np.zeros(0)
    if factor.categorical:
        table = np.zeros((len(chosen), len(chosen)))
        for fold, (train, _) in enumerate(splits):
            held = sample.fold == fold
            named = discriminant(train, columns)(sample.x[held])
            np.add.at(table, (sample.y[held][:, chosen].argmax(1), named), 1)
        return Panel(nothing, nothing, table)
    held = np.flatnonzero(sample.fold == 0)[:POINTS]
    true, found = sample.y[held][:, chosen], AFFINE.fit(splits[0][0])(sample.x[held])[:, chosen]
    if isinstance(factor.kind, Periodic) and len(chosen) == 2:
        period = factor.kind.period
        true, found = (np.arctan2(side[:, 1], side[:, :1].ravel())[:, None] for side in (true, found))
        true, found = (np.mod(side, 2 * pi) * period / (2 * pi) for side in (true, found))
    return Panel(true[:, 0], found[:, 0])
