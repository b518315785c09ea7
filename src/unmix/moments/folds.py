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
RESAMPLE_BYTES = 2**28


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

    def resampled(self, times: int, seed: int, only: int | None = None) -> Iterator[list[Split]]:
        """Splits of bootstrap resamples: chunks are drawn with replacement within each fold, so nothing leaks.

        A chunk counts equally often wherever it stands in a train part, as a resample of the rows would have it.
        """
        rng = np.random.default_rng([seed, 2])
        members = [np.flatnonzero((self.of_chunk == fold) & (self.chunks.rows > 0)) for fold in range(self.count)]
        flat = self.chunks.sums.reshape(len(self.chunks.sums), -1)
        batch = max(1, RESAMPLE_BYTES // (self.count * flat[0].nbytes))
        for start in range(0, times, batch):
            some = min(batch, times - start)
            counts = np.zeros((some, len(flat)))
            for chunks in members:
                counts[:, chunks] = rng.multinomial(len(chunks), np.full(len(chunks), 1 / len(chunks)), size=some)
            if only == 1:  # one test part and one train part are all that is needed
                shape, first = (some, *self.chunks.sums.shape[1:]), self.of_chunk == 0
                trains, tests = (((counts * part) @ flat).reshape(shape) for part in (~first, first))
                for train, test in zip(trains, tests, strict=True):
                    yield [(self.chunks.centred(train), self.chunks.centred(test))]
                continue
            pooled = np.empty((some, self.count, *self.chunks.sums.shape[1:]))
            for fold, chunks in enumerate(members):
                pooled[:, fold] = (counts[:, chunks] @ flat[chunks]).reshape(some, *pooled.shape[2:])
            for sums in pooled:
                yield self._split(sums, only)

    def _split(self, sums: Float64[ndarray, "folds v v"], only: int | None) -> list[Split]:
        # Never total − test: next to an outlier in the test fold the others would be rounded away.
        centred, fold = self.chunks.centred, np.arange(len(sums))
        return [(centred(sums[fold != f].sum(0)), centred(test)) for f, test in enumerate(sums[:only])]
