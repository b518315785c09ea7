"""Train and test parts made of whole chunks, and resamples of them that keep the two apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from unmix.moments.chunks import ChunkMoments
from unmix.moments.moments import Moments

Split = tuple[Moments, Moments]


@dataclass(frozen=True, eq=False)
class Folds:
    """Chunk c belongs to fold c mod `count`; each fold in turn is the test part of the others.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> folds = Folds(ChunkMoments.of(rng.normal(size=(1000, 3)), rng.normal(size=(1000, 2))))
    >>> train, test = folds.splits()[0]
    >>> train.n + test.n
    1000.0
    """

    chunks: ChunkMoments
    count: int = 5

    @property
    def of_chunk(self) -> Int64[ndarray, " chunks"]:
        """The fold of each chunk."""
        return np.arange(len(self.chunks.sums)) % self.count

    def splits(self, only: int | None = None, weights: Float64[ndarray, " chunks"] | None = None) -> list[Split]:
        """(train, test) for each fold as the test part, or for the first `only` of them; chunks may be weighted."""
        if only is None and weights is None:
            return self._all
        weights = np.ones(len(self.chunks.sums)) if weights is None else weights
        member = (self.of_chunk == np.arange(self.count)[:, None]) * weights
        return self._split(np.tensordot(member, self.chunks.sums, 1), only)

    @cached_property
    def _all(self) -> list[Split]:
        return self.splits(only=self.count)

    def draws(self, times: int, seed: int) -> Float64[ndarray, "times chunks"]:
        """How often each chunk counts in each bootstrap resample: drawn within folds, so that nothing leaks.

        A chunk counts equally often wherever it stands in a train part, as a resample of the rows would have it.
        """
        rng = np.random.default_rng([seed, 2])
        counts = np.zeros((times, len(self.chunks.sums)))
        for fold in range(self.count):
            chunks = np.flatnonzero((self.of_chunk == fold) & (self.chunks.rows > 0))
            counts[:, chunks] = rng.multinomial(len(chunks), np.full(len(chunks), 1 / len(chunks)), size=times)
        return counts

    def resampled(self, draws: Float64[ndarray, "times chunks"], only: int | None = None) -> Iterator[list[Split]]:
        """The splits of each resample; many at a time are one matrix product."""
        flat, shape = self.chunks.sums.reshape(len(self.chunks.sums), -1), (len(draws), *self.chunks.sums.shape[1:])
        pooled = ((draws[:, f :: self.count] @ flat[f :: self.count]).reshape(shape) for f in range(self.count))
        if only == 1:  # a test part and its train part are all that is needed
            tests, trains = next(pooled), next(pooled)
            for more in pooled:
                trains += more
            for train, test in zip(trains, tests, strict=True):
                yield [(self.chunks.centred(train), self.chunks.centred(test))]
        else:
            for sums in zip(*pooled, strict=True):
                yield self._split(np.stack(sums), only)

    def _split(self, sums: Float64[ndarray, "folds v v"], only: int | None) -> list[Split]:
        # Never total − test: next to an outlier in the test fold the others would be rounded away.
        centred, fold = self.chunks.centred, np.arange(len(sums))
        return [(centred(sums[fold != f].sum(0)), centred(test)) for f, test in enumerate(sums[:only])]
