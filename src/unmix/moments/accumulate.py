"""Adding blocks of rows to the chunks' sums, on as many threads as the matrix products have."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64, Num
from numpy import ndarray

from unmix.errors import require
from unmix.threads import one_blas_thread


@dataclass(frozen=True)
class Workers:
    """Threads, and how many they are."""

    pool: ThreadPoolExecutor
    count: int


@contextmanager
def workers() -> Iterator[Workers]:
    """As many threads as matrix products have; within, each product runs on one of them.

    A thread takes whole chunks: gathering their rows and multiplying them, so that both scale.
    """
    with one_blas_thread() as count, ThreadPoolExecutor(count) as pool:
        yield Workers(pool, count)


class Accumulator:
    """Σ vvᵀ of v = [1, ‖x̄‖², ‖ȳ‖², x̄, ȳ] for each chunk, about a common shift."""

    def __init__(
        self, count: int, shift_x: Float64[ndarray, " k"], shift_y: Float64[ndarray, " d"], workers: Workers
    ) -> None:
        size = 3 + len(shift_x) + len(shift_y)
        self.sums = np.zeros((count, size, size))
        self.shift_x, self.shift_y, self.workers = shift_x, shift_y, workers
        self.buffer = np.empty((0, size))

    def add(
        self, x: Num[ndarray, "m k"], y: Num[ndarray, "m d"], member: Int64[ndarray, " m"]
    ) -> tuple[Int64[ndarray, " bad"], Int64[ndarray, " worse"]]:
        """Add rows to their chunks; returned are the rows of x and of y whose squares are not finite numbers."""
        from unmix.kernels.gather import gather  # numba is slow to import

        if len(self.buffer) < len(x):
            self.buffer = np.empty((len(x), self.buffer.shape[1]))
        order = np.argsort(member, kind="stable")
        starts = np.searchsorted(member[order], np.arange(len(self.sums) + 1))
        all_there = starts[0] == 0 and starts[-1] == len(member)
        require(bool(all_there), f"chunks must be numbers from 0 to {len(self.sums) - 1}.")
        product = np.empty((self.workers.count, *self.sums.shape[1:]))

        def add_chunks(worker: int) -> None:
            """The chunks of one worker, which lie next to each other in the buffer."""
            first, last = (len(self.sums) * w // len(product) for w in (worker, worker + 1))
            rows = slice(starts[first], starts[last])
            gather(x, y, order[rows], self.shift_x, self.shift_y, self.buffer[rows])
            with np.errstate(all="ignore"):  # what is not finite is told by its row
                for chunk in range(first, last):
                    part = self.buffer[starts[chunk] : starts[chunk + 1]]
                    if len(part):
                        self.sums[chunk] += np.matmul(part.T, part, out=product[worker])

        list(self.workers.pool.map(add_chunks, range(len(product))))
        bad_x, bad_y = (order[~np.isfinite(norms)] for norms in self.buffer[: len(x), 1:3].T)
        return bad_x, bad_y
