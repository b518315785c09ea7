"""What a measure cannot see: the changes of a representation that leave its score as it is."""

from __future__ import annotations

from enum import Enum


class Change(Enum):
    """A family of changes x → A x + b of one representation."""

    OFFSET = "offset"
    SCALE = "one scale for all columns"
    COLUMN_SCALES = "a scale for each column"
    PERMUTATION = "signed permutation of columns"
    ROTATION = "orthogonal map"
    INVERTIBLE = "invertible linear map"

    @property
    def contains(self) -> frozenset[Change]:
        """The families whose maps are all among these."""
        smaller = {
            Change.COLUMN_SCALES: {Change.SCALE},
            Change.ROTATION: {Change.PERMUTATION},
            Change.INVERTIBLE: {Change.SCALE, Change.COLUMN_SCALES, Change.PERMUTATION, Change.ROTATION},
        }
        return frozenset(smaller.get(self, set()) | {self})


Invariance = frozenset[Change]


def to(*changes: Change) -> Invariance:
    """The changes that leave a score as it is, with all that they contain.

    Examples
    --------
    >>> Change.PERMUTATION in to(Change.ROTATION), Change.OFFSET in to(Change.ROTATION)
    (True, False)
    """
    return frozenset().union(*(c.contains for c in changes))


AFFINE_MAPS = to(Change.INVERTIBLE, Change.OFFSET)
SIMILARITIES = to(Change.ROTATION, Change.SCALE, Change.OFFSET)
COLUMNWISE = to(Change.COLUMN_SCALES, Change.PERMUTATION, Change.OFFSET)
