"""Counts, means and co-moments of paired rows, in one mergeable pass: all that the linear measures need."""

from unmix.moments.chunks import ChunkMoments
from unmix.moments.folds import Folds, Split
from unmix.moments.membership import (
    CHUNKS,
    chunks_in_time,
    chunks_of_groups,
    chunks_of_rows,
    chunks_of_table,
    scrambled,
)
from unmix.moments.moments import Moments

__all__ = [
    "CHUNKS",
    "ChunkMoments",
    "Folds",
    "Moments",
    "Split",
    "chunks_in_time",
    "chunks_of_groups",
    "chunks_of_rows",
    "chunks_of_table",
    "scrambled",
]
