"""Linear discriminant analysis from moments, and its confusions on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64, Num
from numpy import ndarray

from unmix.indeterminacy import AFFINE
from unmix.measures.paired import Paired
from unmix.moments import Moments
from unmix.tables import Table

SHRINKAGE, STEP = 1e-6, 2**12


@dataclass(frozen=True, eq=False)
class Discriminant:
    """The class with the largest (x − m)ᵀW + b."""

    middle: Float64[ndarray, " k"]
    weights: Float64[ndarray, "k c"]
    bias: Float64[ndarray, " c"]

    def __call__(self, x: Num[ndarray, "n k"]) -> Int64[ndarray, " n"]:
        return ((x - self.middle) @ self.weights + self.bias).argmax(1)


def discriminant(train: Moments, columns: Sequence[int]) -> Discriminant:
    """Fisher's discriminant with equal priors, where these columns of y are 1 for a row's class and 0 elsewhere.

    With total scatter T, class sizes N and deviations M of the class means, the scatter within classes is
    S = T − M N Mᵀ, and S⁻¹M = T⁻¹M (I − N MᵀT⁻¹M)⁻¹; T⁻¹M N are the coefficients of least squares. S is shrunk towards
    T by a millionth, for classes that are told apart without an error.

    Examples
    --------
    >>> x = np.array([[0.0], [0.2], [1.0], [1.2]])
    >>> discriminant(Moments.of(x, np.eye(2)[[0, 0, 1, 1]]), (0, 1))(np.array([[0.1], [1.1]])).tolist()
    [0, 1]
    """
    chosen = list(columns)
    sizes = train.n * train.mean_y[chosen]
    there = sizes > 0.5
    safe = np.where(there, sizes, 1)
    means = train.xy[:, chosen] / safe
    inverse = AFFINE.fit(train).matrix[chosen].T / safe / (1 + SHRINKAGE)
    gram = means.T @ inverse
    within = np.linalg.solve(np.eye(len(chosen)) - sizes[:, None] * gram, np.eye(len(chosen)))
    weights = inverse @ within
    bias = np.where(there, -(means * weights).sum(0) / 2, -np.inf)
    return Discriminant(train.mean_x, weights, bias)


def confusions(
    table: Table,
    paired: Paired,
    codes: Sequence[Int64[ndarray, " n"]],
    fitted: Sequence[Sequence[Discriminant]],
) -> list[Float64[ndarray, "chunks c c"]]:
    """For each factor and chunk, how often a row of class i is named j by the discriminant that has not seen its fold.

    One more pass over the rows, some at a time.
    """
    count, chunks = paired.folds.count, len(paired.folds.chunks.sums)
    sizes = [len(of_fold[0].bias) for of_fold in fitted]
    kind: Any = np.float32 if table.values.dtype == np.float32 else np.float64
    middle = fitted[0][0].middle.astype(kind)  # taken off first, so that single precision is precise enough
    weights = np.hstack([of_fold[f].weights for f in range(count) for of_fold in fitted])
    bias = np.concatenate(
        [(middle - d.middle) @ d.weights + d.bias for f in range(count) for d in (of_fold[f] for of_fold in fitted)]
    )
    single, all_kept = weights.astype(kind), len(paired.kept_x) == table.values.shape[1]
    found = [np.zeros((chunks, size, size)) for size in sizes]
    ends = np.cumsum([0, *sizes])
    for a in range(0, len(table), STEP):
        block = np.asarray(table.values[a : a + STEP], kind)
        block = block if all_kept else block[:, paired.kept_x]
        chunk, in_fold = paired.chunk[a : a + STEP], paired.fold[a : a + STEP] >= 0
        # Every fold's discriminants at once; a row takes those that have not seen it.
        scores = ((block - middle) @ single + bias).reshape(len(block), count, ends[-1])
        scores = scores[np.arange(len(block)), chunk % count]
        for into, code, start, end in zip(found, codes, ends[:-1], ends[1:], strict=True):
            size = end - start
            cell = (chunk * size + code[a : a + STEP]) * size + scores[:, start:end].argmax(1)
            into += np.bincount(cell[in_fold], minlength=into.size).reshape(into.shape)
    return found


def balanced_accuracy(confusion: Float64[ndarray, "c c"]) -> float:
    """The mean over the classes that are there of the share named rightly."""
    rows = confusion.sum(1)
    return float((np.diag(confusion)[rows > 0] / rows[rows > 0]).mean())
