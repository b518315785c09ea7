"""Which chunk a row belongs to: a hash of its number or its group, so that chunks are exchangeable in sorted files."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from jaxtyping import Bool, Int64, UInt64
from numpy import ndarray

CHUNKS, FEWEST_A_FOLD = 64, 4


def scrambled(numbers: Int64[ndarray, " n"] | UInt64[ndarray, " n"], seed: int = 0) -> UInt64[ndarray, " n"]:
    """A well-mixed 64-bit hash of each number (the finaliser of SplitMix64)."""
    start = np.frombuffer(blake2b(str(seed).encode(), digest_size=8).digest(), np.uint64)
    h = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def chunks_of_rows(start: int, stop: int, seed: int = 0) -> Int64[ndarray, " n"]:
    """The chunks of the rows start, …, stop − 1.

    Examples
    --------
    >>> np.array_equal(chunks_of_rows(0, 100)[40:], chunks_of_rows(40, 100))
    True
    """
    return (scrambled(np.arange(start, stop), seed) % np.uint64(CHUNKS)).astype(np.int64)


def chunks_of_table(rows: int, seed: int = 0) -> Int64[ndarray, " n"]:
    """The chunks of a small table: rows are dealt round in hashed order, so that no chunk is short by chance."""
    return _dealt(scrambled(np.arange(rows), seed))


def chunks_of_groups(groups: Any, seed: int = 0) -> Int64[ndarray, " n"]:
    """The chunks of rows with these group labels: groups are dealt round in hashed order, each kept whole.

    Examples
    --------
    >>> chunks = chunks_of_groups(["a", "a", "b"])
    >>> bool(chunks[0] == chunks[1]), bool(chunks[1] == chunks[2])
    (True, False)
    """
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    hashes = [blake2b(f"{seed}/{name}".encode(), digest_size=8).digest() for name in names.tolist()]
    return _dealt(np.frombuffer(b"".join(hashes), np.uint64))[member]


def chunks_in_time(rows: int, folds: int, gap: int) -> tuple[Int64[ndarray, " n"], Bool[ndarray, " n"]]:
    """The chunks of rows in time, and which rows are in a gap: chunks and folds are consecutive rows.

    Chunk c belongs to fold c mod `folds`. After each fold but the last, `gap` rows belong to no fold. A chunk is no
    shorter than a gap, if four a fold leave room for that: shorter ones would not be independent of one another.

    Examples
    --------
    >>> chunk, gap = chunks_in_time(20, folds=2, gap=4)
    >>> chunk.tolist(), np.flatnonzero(gap).tolist()
    ([0, 0, 2, 2, 4, 4, 6, 6, 6, 6, 6, 6, 1, 1, 3, 3, 5, 5, 7, 7], [8, 9, 10, 11])
    """
    inside = rows - (folds - 1) * gap
    count = min(CHUNKS, max(FEWEST_A_FOLD * folds, inside // max(gap, 1)))
    in_turn = np.argsort(np.arange(count) % folds, kind="stable")
    lengths = np.diff(np.arange(count + 1) * inside // count)
    last = np.flatnonzero(np.diff(in_turn % folds))  # of each fold but the last
    places, sizes = np.insert(in_turn, last + 1, in_turn[last]), np.insert(lengths, last + 1, gap)
    apart = np.zeros(len(places), bool)
    apart[last + 1 + np.arange(len(last))] = True
    return np.repeat(places, sizes), np.repeat(apart, sizes)


def _dealt(hashes: UInt64[ndarray, " n"]) -> Int64[ndarray, " n"]:
    turn = np.empty(len(hashes), np.int64)
    turn[np.argsort(hashes, kind="stable")] = np.arange(len(hashes))
    return turn % CHUNKS
