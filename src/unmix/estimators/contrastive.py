"""Contrastive learning on pairs of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unmix.encoders import outputs
from unmix.encoders.outputs import Output
from unmix.errors import InputError, require
from unmix.estimators.base import EncoderEstimator
from unmix.estimators.door import plain
from unmix.estimators.rows import Rows
from unmix.estimators.views import Jitter
from unmix.objectives import InfoNCE, Objective
from unmix.similarities import Dot


class ContrastiveEncoder(EncoderEstimator):
    """InfoNCE on pairs of rows (Zimmermann et al. 2021): `fit(X, Y)` with the second view Y[i] of each X[i].

    Without Y, `view` makes the second views anew at each step; without either, noise of a tenth of each column's
    spread does (`Jitter(0.1)`). A y of one axis, such as the labels of a pipeline, is not looked at.

    The default is a dot product at τ = 0.1 of outputs on the unit sphere. What that recovers depends on how views are
    made: `um.guarantee` says it for processes that are known.

    Parameters are those of `EncoderEstimator`.

    Examples
    --------
    >>> import unmix as um
    >>> pairs = um.PairProcess(um.Sphere(3), um.Uniform(), um.VonMisesFisher(20.0), um.mixings.MLP()).sample(2000)
    >>> model = um.estimators.ContrastiveEncoder(3, max_steps=300, random_state=0).fit(pairs.x, pairs.x_view)
    >>> model.transform(pairs.x).shape
    (2000, 3)
    >>> um.recovery(model.transform(pairs.x), pairs.z).r2() > 0.9
    True
    """

    def _defaults(self) -> tuple[Objective, Output]:
        return InfoNCE(Dot(), 0.1), outputs.Sphere()

    def _rows(self, x: Tensor, y: Any, fitting: bool) -> Rows:
        if y is None or np.asarray(plain(y)).ndim < 2:
            return Rows(x, view=self.view or Jitter(0.1))
        names, given = getattr(self, "feature_names_in_", None), getattr(y, "columns", None)
        alike = names is None or given is None or list(names) == list(given)
        require(alike, "the second views must have the columns of X, in the same order.")
        try:
            second = np.array(plain(y), np.float64 if x.dtype == torch.float64 else np.float32)
        except (TypeError, ValueError):
            raise InputError("the second views must be a table of numbers.") from None
        require(
            second.shape == tuple(x.shape),
            f"the second views must have the shape of X, {tuple(x.shape)}, not {second.shape}.",
        )
        views = torch.from_numpy(second)
        require(bool(views.isfinite().all()), "the second views have NaN or infinite values: remove those pairs.")
        return Rows(x, second=views)
