"""One thread for each matrix product while unmix itself runs many of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

_lock = threading.Lock()
_inside = 0
_threads = 1
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Within, a matrix product runs on one thread; yielded is how many it had before.

    The limit belongs to the process: it is set when the first caller enters and lifted when the last one leaves, so
    that callers in several threads do not leave each other's limit behind.
    """
    global _inside, _threads, _limit
    with _lock:
        if _inside == 0:
            counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
            _threads, _limit = max(counts, default=1), threadpool_limits(1, user_api="blas")
        _inside += 1
    try:
        yield _threads
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()
