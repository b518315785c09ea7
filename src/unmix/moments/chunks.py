"""One pass over the rows, in chunks: what folds, resamples and merges are made of afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64, Num
from numpy import ndarray

from unmix.errors import InputError, require
from unmix.moments.accumulate import Accumulator, workers
from unmix.moments.membership import CHUNKS, chunks_of_rows
from unmix.moments.moments import Moments

BLOCK_BYTES, BLOCK_ROWS = 2**28, 2**16
ROUNDING = 1e-13
Block = tuple[Num[ndarray, "m k"], Num[ndarray, "m d"], Int64[ndarray, " m"]]


@dataclass(frozen=True, eq=False)
class ChunkMoments:
    """For each chunk of rows, Σ vvᵀ of v = [1, ‖x̄‖², ‖ȳ‖², x̄, ȳ], where x̄ and ȳ are rows minus one common shift.

    Because v holds a 1, moving the shift acts linearly on v; because the shift is common, sums of chunks are
    sums of matrices. So any union, fold or resample of chunks is a weighted sum, and merging is addition.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(1000, 3)), rng.normal(size=(1000, 2))
    >>> whole = ChunkMoments.of(x, y)
    >>> parts = ChunkMoments.of(x[:300], y[:300]).merged(ChunkMoments.of(x[300:], y[300:], start=300))
    >>> bool(np.allclose(whole.pooled().xy, parts.pooled().xy)), int(whole.rows.sum())
    (True, 1000)
    """

    sums: Float64[ndarray, "chunks v v"]
    shift_x: Float64[ndarray, " k"]
    shift_y: Float64[ndarray, " d"]

    @classmethod
    def of(
        cls,
        x: Num[ndarray, "n k"],
        y: Num[ndarray, "n d"],
        *,
        chunks: Int64[ndarray, " n"] | None = None,
        start: int = 0,
        seed: int = 0,
        count: int = CHUNKS,
        names: tuple[str, str] = ("x", "y"),
    ) -> ChunkMoments:
        """Of two tables with the same rows, in memory or memory-mapped; read block by block.

        Parameters
        ----------
        chunks : the chunk of each row, 0 to `count` − 1; by default a hash of its number, counted from `start`.
        """
        require(len(x) == len(y), f"{names[0]} has {len(x)} rows and {names[1]} {len(y)}: give the same rows.")
        step = block_rows(x.shape[1] + y.shape[1])

        def blocks() -> Iterator[Block]:
            for a in range(0, len(x), step):
                b = min(a + step, len(x))
                member = chunks_of_rows(start + a, start + b, seed) if chunks is None else chunks[a:b]
                yield x[a:b], y[a:b], member

        return cls.over(blocks(), count, names)

    @classmethod
    def over(cls, blocks: Iterable[Block], count: int = CHUNKS, names: tuple[str, str] = ("x", "y")) -> ChunkMoments:
        """Of an iterator of (rows of x, rows of y, the chunk of each row): nothing is held but one block."""
        done, into = 0, None
        with workers() as threads:
            for raw_x, raw_y, member in blocks:
                x, y = _plain(raw_x), _plain(raw_y)
                into = into or Accumulator(count, _middle(x), _middle(y), threads)
                for name, bad in zip(names, into.add(x, y, member), strict=True):
                    require(
                        not len(bad),
                        f"{name} has NaN, infinite or too large values in {len(bad)} rows, the first of them row "
                        f"{done + min(bad, default=0)}: remove or rescale those rows.",
                    )
                done += len(x)
        if into is None or not done:
            raise InputError(f"{names[0]} and {names[1]} have no rows: give at least one.")
        return cls(into.sums, into.shift_x, into.shift_y)

    @property
    def rows(self) -> Float64[ndarray, " chunks"]:
        """How many rows each chunk has."""
        return self.sums[:, 0, 0]

    @property
    def width(self) -> int:
        """The number of columns of x."""
        return len(self.shift_x)

    def merged(self, other: ChunkMoments) -> ChunkMoments:
        """Of the rows of both: associative and commutative to rounding."""
        same = self.sums.shape == other.sums.shape and self.width == other.width
        require(same, "only moments of the same columns and number of chunks can be merged.")
        moved = _moved(other.sums, self.shift_x - other.shift_x, self.shift_y - other.shift_y)
        return ChunkMoments(self.sums + moved, self.shift_x, self.shift_y)

    def columns(self, x: Int64[ndarray, " k"], y: Int64[ndarray, " d"]) -> ChunkMoments:
        """Of some columns only; those left out must be constant, or the norms would still count them."""
        kept = np.concatenate([np.arange(3), 3 + x, 3 + self.width + y])
        return ChunkMoments(self.sums[:, kept[:, None], kept], self.shift_x[x], self.shift_y[y])

    def pooled(self, weights: Float64[ndarray, " chunks"] | None = None) -> Moments:
        """Of all rows, or of the rows of each chunk counted `weights` times."""
        weights = np.ones(len(self.sums)) if weights is None else weights
        return self.centred(np.tensordot(weights, self.sums, 1))

    def centred(self, total: Float64[ndarray, "v v"]) -> Moments:
        """The moments about the mean of a weighted sum of the chunks' matrices."""
        x, y = slice(3, 3 + self.width), slice(3 + self.width, None)
        n = float(total[0, 0])
        mean = total[0, 3:] / n
        mean_x, mean_y = mean[: self.width], mean[self.width :]
        second = total[3:, 3:] - np.outer(n * mean, mean)
        still = np.diag(second) <= ROUNDING * np.diag(total)[3:]  # constant here: what is left is rounding
        if still.any():
            second[still], second[:, still] = 0, 0
        # ‖x − m‖² = ‖x‖² − 2m·x + ‖m‖² is linear in v.
        norm = np.zeros((2, len(total)))
        norm[:, 0], norm[0, 1], norm[1, 2] = (mean_x @ mean_x, mean_y @ mean_y), 1, 1
        norm[0, x], norm[1, y] = -2 * mean_x, -2 * mean_y
        with np.errstate(over="ignore", invalid="ignore"):  # columns of 1e150 are refused by their variance
            norms = (norm @ total @ norm.T)[[0, 0, 1], [0, 1, 1]]
        k = self.width
        xx, xy, yy = second[:k, :k], second[:k, k:], second[k:, k:]
        return Moments(n, self.shift_x + mean_x, self.shift_y + mean_y, xx, xy, yy, norms)


def block_rows(width: int) -> int:
    """How many rows are read at a time: enough a chunk for fast matrix products, within bounded memory."""
    return max(CHUNKS, min(BLOCK_ROWS, BLOCK_BYTES // (8 * (3 + width))))


def _moved(
    sums: Float64[ndarray, "*batch v v"], a: Float64[ndarray, " k"], b: Float64[ndarray, " d"]
) -> Float64[ndarray, "*batch v v"]:
    """Σ vvᵀ when the shifts of x and y move by a and b: T Σ Tᵀ, since v becomes T v."""
    return _acted(_acted(sums, a, b).swapaxes(-1, -2), a, b)


def _acted(
    s: Float64[ndarray, "*batch v v"], a: Float64[ndarray, " k"], b: Float64[ndarray, " d"]
) -> Float64[ndarray, "*batch v v"]:
    """T Σ."""
    out, one = s.copy(), s[..., 0, :]
    x, y = slice(3, 3 + len(a)), slice(3 + len(a), None)
    out[..., 1, :] += (a @ a) * one - 2 * (a @ s[..., x, :])
    out[..., 2, :] += (b @ b) * one - 2 * (b @ s[..., y, :])
    out[..., x, :] -= a[:, None] * one[..., None, :]
    out[..., y, :] -= b[:, None] * one[..., None, :]
    return out


def _middle(block: Num[ndarray, "m k"]) -> Float64[ndarray, " k"]:
    """A shift near most rows, whatever outliers there are, and exactly the value of a column that is constant."""
    some = block[:: max(1, len(block) // 255)].astype(np.float64)
    return np.nan_to_num(np.median(some, axis=0), nan=0.0, posinf=0.0, neginf=0.0)


def _plain(block: Num[ndarray, "m k"]) -> Num[ndarray, "m k"]:
    """Contiguous float32 or float64, as the compiled loop takes it."""
    kind = block.dtype if block.dtype in (np.float32, np.float64) else np.float64
    return np.ascontiguousarray(block, kind)
