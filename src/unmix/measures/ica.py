"""Independent components of each representation, then their matching."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy import ndarray

from unmix.measures.invariance import AFFINE_MAPS, Invariance
from unmix.measures.matching import MCC
from unmix.measures.measure import Assessment, RowMeasure, wide
from unmix.measures.sample import Pairings, Sample, nulls
from unmix.moments import CHUNKS, ChunkMoments, Folds, Split
from unmix.moments.whitening import whitening


@dataclass(frozen=True)
class ICA(RowMeasure):
    """FastICA of x and of y, each on the train rows, then MCC of the components on the test rows.

    The interval and the null hold the components fixed: they are about the matching, not about FastICA.

    References
    ----------
    Hyvärinen 1999.
    """

    assumes: ClassVar[str] = "both sides are linear mixtures of the same independent, non-Gaussian sources"
    reference: ClassVar[str] = "Hyvärinen 1999"

    @property
    def name(self) -> str:
        return "ICA, MCC"

    @property
    def invariant_x(self) -> Invariance:
        return AFFINE_MAPS

    def refusal(self, train_rows: float, width_x: int, width_y: int) -> str | None:
        return wide(train_rows, width_x, width_y)

    def score(self, sample: Sample) -> float:
        moments = [self._moments(s) for s in self.components(sample)]
        return self._mean([folds.splits()[f] for f, folds in enumerate(moments)])

    def assess(self, sample: Sample, permutations: int) -> Assessment:
        components = list(self.components(sample))
        moments = [self._moments(s) for s in components]
        score = self._mean([folds.splits()[f] for f, folds in enumerate(moments)])
        left_out = []
        for g in np.unique(sample.chunk):
            kept = np.ones(CHUNKS)
            kept[g] = 0
            left_out.append(self._mean([folds.splits(weights=kept)[f] for f, folds in enumerate(moments)]))

        pairings = [Pairings(s) for s in components]

        def paired_by(order: Int64[ndarray, " m"]) -> float:
            return self._mean([p.folds(order).splits()[f] for f, p in enumerate(pairings)])

        null, beyond = nulls(sample, paired_by, permutations)
        return Assessment(score, np.array(left_out), score, null, len(sample.x), beyond)

    def _mean(self, splits: list[Split]) -> float:
        return float(np.mean([MCC().score(*split) for split in splits]))

    def _moments(self, sample: Sample) -> Folds:
        there = sample.fold >= 0
        return Folds(ChunkMoments.of(sample.x[there], sample.y[there], chunks=sample.chunk[there]), sample.folds)

    def components(self, sample: Sample) -> Iterator[Sample]:
        """For each fold as the test part, the sample in terms of components fitted on the other folds."""
        for fold in range(sample.folds):
            train = (sample.fold != fold) & (sample.fold >= 0)
            x, y = (_unmixed(t, train, sample.seed) for t in (sample.x, sample.y))
            yield replace(sample, x=x, y=y)


def _unmixed(x: Float64[ndarray, "m k"], train: Bool[ndarray, " m"], seed: int) -> Float64[ndarray, "m r"]:
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    mean = x[train].mean(0)
    centred = x[train] - mean
    white = whitening(centred.T @ centred) * np.sqrt(len(centred))
    ica = FastICA(whiten=False, max_iter=500, tol=1e-5, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the best found is then compared all the same
        ica.fit(centred @ white)
    return (x - mean) @ white @ ica.components_.T
