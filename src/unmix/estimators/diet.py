"""Instance discrimination on rows of one's own."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from unmix.encoders import outputs
from unmix.encoders.outputs import Output
from unmix.errors import require
from unmix.estimators.base import EncoderEstimator
from unmix.estimators.cross_entropy import coded
from unmix.estimators.rows import Rows, once
from unmix.objectives import DIET, Objective
from unmix.objectives.cross_entropy import cross_entropy
from unmix.randomness import stream


class DIETEncoder(EncoderEstimator):
    """DIET (Balestriero 2023; Reizinger et al. 2025): each instance is a class of its own.

    `fit(X)` takes every row as an instance, seen through `view` at each step if one is given; `fit(X, y)` takes rows
    with one label as views of one instance (frames of a clip, crops of an image). Labels of few classes would make it
    supervised: use `CrossEntropyEncoder` for these.

    To stop by, rows are held out where instances have several, and else fresh views of all rows are taken where a view
    is given; with neither there is nothing to hold out, and training runs to its end.

    `score(X, y)` is the mean log-likelihood of known instances. `score(X)` is that of new ones, whose row of the head
    is their own embedding, scaled to the rows' mean length: how well a new view of a row is told from the other rows.

    Parameters are those of `EncoderEstimator`. The default has unit rows, outputs on the unit sphere and a learned β
    that starts at 10 (case C1).

    Attributes
    ----------
    instances_ : the labels of the instances, in the order of the head's rows.

    Examples
    --------
    >>> import unmix as um
    >>> X = um.ClusterProcess(um.Sphere(3), um.Clusters(10), um.VonMisesFisher(20.0), um.mixings.MLP()).sample(300).x
    >>> model = um.estimators.DIETEncoder(3, view=um.estimators.Jitter(0.1), max_steps=50, random_state=0).fit(X)
    >>> model.transform(X[:5]).shape
    (5, 3)
    """

    def _defaults(self) -> tuple[Objective, Output]:
        return DIET(unit_rows=True, temperature=0.1, learn_temperature=True), outputs.Sphere()

    def _rows(self, x: Tensor, y: Any, fitting: bool) -> Rows:
        if y is None:
            y = torch.arange(len(x))
        return Rows(x, label=coded(self, x, y, fitting, "instances_"), view=self.view)

    def _split(self, rows: Rows) -> tuple[Rows, Rows | None]:
        assert rows.label is not None
        if int(rows.label.max()) + 1 < len(rows):
            return super()._split(rows)
        return rows, rows if self.validation_fraction > 0 and self.view is not None else None

    def score(self, X: Any, y: Any = None) -> float:
        if y is not None:
            return super().score(X, y)
        check_is_fitted(self, "network_")
        rows = Rows(self._door(X, fitting=False), view=self.view)
        require(len(rows) >= 2, "one row has no other to be told from: score at least two.")
        views, total = stream(self.seed_, "held-out views"), 0.0
        head: Any = self.network_.loss
        length = head.rows().norm(dim=1).mean()
        for index in once(len(rows), self.batch_size, 1, stream(self.seed_, "held-out order")):
            x = rows.x[index]
            own = self.network_.embed(x.to(self.device))
            seen = self.network_.embed(rows.seen(x, views).to(self.device))
            head_rows = length * torch.nn.functional.normalize(own, dim=1)
            which = torch.arange(len(index), device=own.device)
            total += len(index) * cross_entropy(seen, head_rows, which, head.beta.detach()).item()
        return -total / len(rows)
