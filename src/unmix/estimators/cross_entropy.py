"""Supervised cross-entropy on labels of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d
from torch import Tensor

from unmix.encoders import outputs
from unmix.encoders.outputs import Output
from unmix.errors import InputError, require
from unmix.estimators.base import EncoderEstimator
from unmix.estimators.door import plain
from unmix.estimators.rows import Rows
from unmix.objectives import CrossEntropy, Objective


class CrossEntropyEncoder(EncoderEstimator):
    """Classification with a bias-free linear head (Reizinger et al. 2025, Theorem 2): `fit(X, y)`.

    `transform` gives f(x), the layer before the head, whose rows are `network_.loss.rows()`, in the order of
    `classes_`. `view`, if given, augments the rows of each step. `score` is the negative cross-entropy as trained, with
    view and label smoothing; without these, the mean log-likelihood of the labels. Cross-validate with
    `StratifiedKFold`: a label that was not there in `fit` has no likelihood.

    Parameters are those of `EncoderEstimator`.

    Attributes
    ----------
    classes_ : the labels.

    Examples
    --------
    >>> import unmix as um
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = um.estimators.CrossEntropyEncoder(2, max_steps=200, random_state=0).fit(X, y)
    >>> model.transform(X).shape, model.score(X, y) > -0.5  # chance is −log 3
    ((150, 2), True)
    """

    def _defaults(self) -> tuple[Objective, Output]:
        return CrossEntropy(), outputs.Free()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _rows(self, x: Tensor, y: Any, fitting: bool) -> Rows:
        if y is None:
            raise InputError("requires y to be passed, but the target y is None: give a label for each row.")
        return Rows(x, label=coded(self, x, y, fitting, "classes_"), view=self.view)


def coded(estimator: Any, x: Tensor, y: Any, fitting: bool, name: str) -> Tensor:
    """The number of each row's label; in fitting, the labels are learned as an attribute of this name."""
    labels = column_or_1d(plain(y), warn=True)
    require(not any(label != label for label in labels.tolist()), "there are NaN labels: leave those rows out.")
    require(len(labels) == len(x), f"there are {len(x)} rows and {len(labels)} labels: give one a row.")
    if name == "classes_":  # instances may be as many as rows
        check_classification_targets(labels)
    if fitting:
        known, codes = np.unique(labels, return_inverse=True)
        require(len(known) >= 2, "there is only one class: a softmax needs at least two.")
        setattr(estimator, name, known)
        return torch.from_numpy(codes.astype(np.int64))
    known = getattr(estimator, name)
    codes = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    strange = labels[known[codes] != labels]
    require(
        not len(strange), f"the label {strange[:1].tolist()} was not there in fit: score rows with known labels only."
    )
    return torch.from_numpy(codes.astype(np.int64))
